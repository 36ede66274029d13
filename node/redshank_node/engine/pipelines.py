"""Gives each turn the pipeline over its own tools."""

from collections import OrderedDict
from collections.abc import Callable

import msgspec

from redshank_node.engine.accepted_tools import AcceptedTools
from redshank_node.engine.asking import Asking
from redshank_node.engine.calls import Pipeline
from redshank_node.engine.hooks import Hooks
from redshank_node.engine.limits_in_force import LimitsInForce
from redshank_node.engine.policy import Policy
from redshank_node.engine.toolsets import Toolset, Toolsets
from redshank_shared.domain.workstream import Workstream

_MOST_KEPT = 64


class Judging(msgspec.Struct, frozen=True):
    """What every pipeline of a node decides by."""

    limits: LimitsInForce
    new_id: Callable[[str], str]
    policy: Policy
    hooks: Hooks
    asking: Asking
    accepted: AcceptedTools | None = None


class Pipelines:
    """Pipelines by toolset, each made once."""

    def __init__(self, toolsets: Toolsets, judging: Judging) -> None:
        self._toolsets = toolsets
        self._judging = judging
        self._kept: OrderedDict[int, tuple[Toolset, Pipeline]] = OrderedDict()

    def of(self, state: Workstream) -> Pipeline:
        """The pipeline of a turn of this workstream that begins now: its tools stay as they are
        until it ends (C-8).
        """
        toolset = self._toolsets.of(state)
        kept = self._kept.get(id(toolset))
        if kept is None:
            kept = self._kept[id(toolset)] = toolset, self._made(toolset)
            if len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        return kept[1]

    def _made(self, toolset: Toolset) -> Pipeline:
        judging = self._judging
        pipeline = Pipeline(
            toolset.toolbox,
            toolset.workspace,
            judging.limits,
            judging.new_id,
            judging.policy,
            judging.hooks,
            judging.asking,
        )
        pipeline.note, pipeline.accepted = toolset.note, judging.accepted
        return pipeline
