"""The rows that facts about questions imply."""

from collections.abc import Iterable
from typing import Any

import msgspec

from redshank_shared.domain.events import AnyFact
from redshank_shared.domain.question_events import QuestionAnswered, QuestionAsked
from redshank_shared.stores.text import encoded_fact, storable

Rows = list[dict[str, Any]]


def imply_questions(workstream_id: str, at: str, facts: Iterable[AnyFact]) -> tuple[Rows, Rows]:
    """Requests to insert, then the changes of those that are there."""
    asked, answered = Rows(), Rows()
    for fact in facts:
        if isinstance(fact, QuestionAsked):
            asked.append(_asked(workstream_id, at, fact))
        elif isinstance(fact, QuestionAnswered):
            answered.append(_answered(workstream_id, at, fact))
    return asked, answered


def _asked(workstream_id: str, at: str, fact: QuestionAsked) -> dict[str, Any]:
    return {
        "request_id": fact.request_id,
        "workstream_id": workstream_id,
        "kind": fact.audience,
        "state": "pending",
        "asked_at": at,
        "request": encoded_fact(fact),
        "expires_at": fact.expires_at,
    }


def _answered(workstream_id: str, at: str, fact: QuestionAnswered) -> dict[str, Any]:
    return {
        "b_request_id": fact.request_id,
        "b_id": workstream_id,
        "state": fact.outcome,
        "answered_at": at,
        "answered_by": storable(fact.by),
        "answers": storable(msgspec.json.encode(fact.answers).decode()),
    }
