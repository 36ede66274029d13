"""The questions that wait: the fold of their facts."""

from collections.abc import Container

import msgspec

from redshank_shared.domain.question_events import QuestionAnswered, QuestionAsked


class Unanswered(msgspec.Struct, frozen=True):
    """A request that nobody has answered yet, since when (RFC 3339 UTC)."""

    asked: QuestionAsked
    since: str


def unanswered(
    waiting: dict[str, Unanswered],
    at: str,
    fact: QuestionAsked | QuestionAnswered,
    open_calls: Container[str],
) -> dict[str, Unanswered]:
    """What waits after this fact. A question of a call that is not open asks nobody."""
    rest = {key: one for key, one in waiting.items() if key != fact.request_id}
    if isinstance(fact, QuestionAsked) and fact.call_id in open_calls:
        rest[fact.request_id] = Unanswered(fact, at)
    return rest
