"""Decides whether a model's provider may search the web by itself."""

from redshank_node.engine.calls import Pipeline
from redshank_node.engine.tool_cards import card_of
from redshank_shared.domain.workstream import Workstream
from redshank_shared.permissions.tool_card import subject


async def own_search(pipeline: Pipeline, state: Workstream) -> str:
    """What the workstream's model calls web_search, if its provider may carry it out, else empty.

    Such a search asks nobody: it takes the place of the tool only where a call of it would be
    allowed outright, no hook would be heard on it, and the operator names no other backend (T-31).
    """
    tool = pipeline.toolbox.resolve("web_search")
    boundary = state.created.boundary
    if tool is None or pipeline.workspace.web.tools.web_search_backend:
        return ""
    if not pipeline.surfaces.offers(boundary, tool):
        return ""
    await pipeline.policy.refresh()
    card = card_of(tool)
    verdict = pipeline.policy.verdict(state, card, "")
    if verdict.decision != "allow" or pipeline.hooks.about(verdict.decision, subject(card)):
        return ""
    shown = {each.name for each in pipeline.surfaces.of(boundary).tools}
    return next((name for name in pipeline.toolbox.names_of(tool) if name in shown), "")
