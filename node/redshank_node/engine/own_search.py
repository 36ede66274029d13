"""Decides what a model's provider may search by itself."""

from redshank_node.engine.calls import Pipeline
from redshank_node.engine.surface import SEARCH_TOOL
from redshank_node.engine.tool_cards import card_of
from redshank_node.tools.tool import Tool
from redshank_shared.domain.workstream import Workstream
from redshank_shared.permissions.tool_card import subject


async def own_search(pipeline: Pipeline, state: Workstream) -> str:
    """What the workstream's model calls web_search, if its provider may carry it out, else empty.

    Not where the operator names another backend (T-31).
    """
    tool = pipeline.toolbox.resolve("web_search")
    boundary = state.created.boundary
    if tool is None or pipeline.workspace.web.tools.web_search_backend:
        return ""
    if not await _asks_nobody(pipeline, state, tool):
        return ""
    shown = {each.name for each in pipeline.surfaces.of(boundary).tools}
    return next((name for name in pipeline.toolbox.names_of(tool) if name in shown), "")


async def searches_tools(pipeline: Pipeline, state: Workstream) -> bool:
    """Whether the provider of the workstream's model may look through tools that wait (T-61)."""
    tool = pipeline.toolbox.resolve(SEARCH_TOOL)
    return tool is not None and await _asks_nobody(pipeline, state, tool)


async def _asks_nobody(pipeline: Pipeline, state: Workstream, tool: Tool) -> bool:
    """Such a search passes no stage of the pipeline: it takes the place of the tool only where a
    call of it would be allowed outright, no hook would be heard on it.
    """
    if not pipeline.surfaces.offers(state.created.boundary, tool):
        return False
    await pipeline.policy.refresh()
    card = card_of(tool)
    verdict = pipeline.policy.verdict(state, card, "")
    heard = pipeline.hooks.about(verdict.decision, subject(card))
    return verdict.decision == "allow" and not heard
