"""Reminds a model whose turns end with a tool that it has not called it yet."""

from redshank_node.engine.prompt import how_to_end
from redshank_node.tools.toolbox import Toolbox
from redshank_shared.domain.events import AnyFact, MessageAnswered, MessagePosted
from redshank_shared.domain.workstream import Workstream

AUTHOR = "redshank"
_MOST_REMINDERS = 2


def reminder(state: Workstream, answered: MessageAnswered, toolbox: Toolbox) -> list[AnyFact]:
    """What goes behind an answer that asks for no call, where turns end with a call alone (C-9).

    After two reminders the turn ends all the same: a model that cannot be told must not be asked
    for ever.
    """
    ends = toolbox.ends_with
    if answered.calls or not ends or _times_reminded(state) >= _MOST_REMINDERS:
        return []
    return [MessagePosted(how_to_end(ends), "engine", AUTHOR)]


def _times_reminded(state: Workstream) -> int:
    times = 0
    for entry in reversed(state.entries):
        if isinstance(entry.fact, MessagePosted):
            if entry.fact.source != "engine":
                break
            times += 1
    return times
