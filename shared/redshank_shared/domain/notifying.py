"""Notifications of a workstream: command -> facts, or a refusal with the mend."""

from redshank_shared.domain.commands import RequestNotification, SettleNotification
from redshank_shared.domain.due_events import (
    NotificationRequested,
    NotificationSettled,
)
from redshank_shared.domain.errors import Conflict
from redshank_shared.domain.events import AnyFact
from redshank_shared.domain.workstream import Workstream

MOST_IN_A_TURN = 5


def decide(state: Workstream, command: RequestNotification | SettleNotification) -> list[AnyFact]:
    """At most five a turn (T-43); one that is settled stays so."""
    if isinstance(command, RequestNotification):
        if state.notices_in_turn >= MOST_IN_A_TURN:
            raise Conflict(
                f"{MOST_IN_A_TURN} notifications were sent in this turn already: say the rest in "
                "the conversation",
                code="too_many_notifications",
            )
        return [
            NotificationRequested(
                delivery_id=command.delivery_id,
                message=command.message,
                title=command.title,
                username=command.username,
                channel_type=command.channel_type,
                channel_id=command.channel_id,
            )
        ]
    if command.delivery_id not in state.untold:
        return []
    return [NotificationSettled(command.delivery_id, command.sent, command.results, command.detail)]
