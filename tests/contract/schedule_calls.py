"""Calls of the tools about time, run beside the schedules that a test says are there."""

import pathlib
from typing import Any

from redshank_node.tools.builtin import schedule_create
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.support.exposure import exposed
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_node.tools.toolbox import Toolbox
from redshank_shared.domain.cadence import Interval
from redshank_shared.domain.commands import CreateSchedule
from redshank_shared.domain.due_events import WatchSpec
from redshank_shared.domain.scheduled import Scheduled
from redshank_shared.profiles.profile import load

TOOLBOX = Toolbox(BUILTIN)
# As the profile cireilclaw shows schedule_create.
ONE_SHOT = exposed(schedule_create.TOOL, "schedule", load("cireilclaw").exposures["schedule"])
# 2026-11-30T08:00:00Z
NOW = 1_796_025_600.0
WORKSTREAM = "ws_0000000000000000000000"
CALL = "call_01kb9e8c0000000000000a"
SCHEDULE = "sch_01kb9e8c0000000000000a"


class Kept:
    """The schedules that a test says are there."""

    def __init__(self, *schedules: Scheduled) -> None:
        self._schedules = schedules

    async def of(self, workstream_id: str) -> list[Scheduled]:
        assert workstream_id == WORKSTREAM
        return list(self._schedules)


def scheduled(name: str, **more: Any) -> Scheduled:
    values: dict[str, Any] = {
        "schedule_id": f"sch_{name:0>22}",
        "name": name,
        "kind": "interval",
        "state": "active",
        "cadence": Interval(3600, NOW),
        "next_due": NOW + 3600,
        "runs": 2,
        "message": "look again",
    }
    return Scheduled(**(values | more))


def watching(name: str, **more: Any) -> Scheduled:
    spec = WatchSpec("gh pr view", 'data["state"] == "MERGED"')
    return scheduled(name, kind="watch", message="", watch=spec, **more)


def tool_called(name: str) -> Tool:
    tool = ONE_SHOT if name == "schedule" else TOOLBOX.resolve(name)
    assert tool is not None
    return tool


def prepared(tool_name: str, /, **arguments: Any) -> Prepared:
    workspace = Workspace(pathlib.Path("/"), workstream_id=WORKSTREAM)
    return tool_called(tool_name).prepare(arguments, workspace)


async def call(
    tool_name: str,
    /,
    *there: Scheduled,
    max_bytes: int = 262144,
    parent: str = "",
    **arguments: Any,
) -> Result:
    context = CallContext(
        CALL,
        Workspace(pathlib.Path("/")),
        lambda _: None,
        max_bytes,
        workstream_id=WORKSTREAM,
        owner="ines",
        now_seconds=NOW,
        schedules=Kept(*there),
        parent=parent,
    )
    return await tool_called(tool_name).run(prepared(tool_name, **arguments), context)


async def created(tool_name: str, /, **arguments: Any) -> CreateSchedule:
    result = await call(tool_name, **arguments)
    assert not result.is_error, result.output
    assert isinstance(result.command, CreateSchedule)
    return result.command
