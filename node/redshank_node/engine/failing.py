"""Which tools failed too often in a turn to be tried again in it."""

from redshank_node.tools.toolbox import Toolbox
from redshank_shared.domain.events import CallFinished, MessagePosted
from redshank_shared.domain.workstream import Workstream

# A person's or a rule's no is not the tool's failure.
_FAILED = ("error", "timeout", "refused")


def failing(state: Workstream, toolbox: Toolbox) -> frozenset[str]:
    """The canonical names of tools whose last calls since a message was posted all failed, as many
    as the toolbox's manner allows none after (C-9).
    """
    most = toolbox.manner.disable_after_failures
    if not most:
        return frozenset()
    running: dict[str, int] = {}
    broken: set[str] = set()
    for entry in reversed(state.entries):
        fact = entry.fact
        if isinstance(fact, MessagePosted) and fact.source != "engine":
            break
        if not isinstance(fact, CallFinished):
            continue
        tool = toolbox.resolve(fact.tool)
        if tool is None or tool.name in broken or tool.name in toolbox.manner.ends_with:
            continue
        if fact.outcome in _FAILED:
            running[tool.name] = running.get(tool.name, 0) + 1
        else:
            broken.add(tool.name)
    return frozenset(name for name, times in running.items() if times >= most)
