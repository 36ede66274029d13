"""The rows that facts imply: the log's own, approvals, audits, schedules."""

from collections.abc import Sequence
from typing import Any

import msgspec

from redshank_shared.domain.artifacts import digests_of
from redshank_shared.domain.due_events import (
    NotificationRequested,
    NotificationSettled,
    ScheduleChanged,
    ScheduleCreated,
    ScheduleTriggered,
)
from redshank_shared.domain.events import (
    AnyFact,
    ApprovalRequested,
    ApprovalResolved,
    CallDecided,
    CallFinished,
    CallInterrupted,
    kind_of,
)
from redshank_shared.stores.implied_questions import imply_questions
from redshank_shared.stores.text import encoded_fact, storable

_STATE_AFTER = {"allow": "allowed", "deny": "denied", "cancelled": "cancelled"}


class ImpliedRows(msgspec.Struct, frozen=True):
    """Values for the hot statements, by table.

    `resolutions` change approvals that are there, `answers` questions, `schedule_changes`
    schedules.
    """

    events: list[dict[str, Any]]
    audits: list[dict[str, Any]]
    approvals: list[dict[str, Any]]
    resolutions: list[dict[str, Any]]
    schedules: list[dict[str, Any]]
    schedule_changes: list[dict[str, Any]]
    schedule_runs: list[dict[str, Any]]
    deliveries: list[dict[str, Any]]
    settled: list[dict[str, Any]]
    ledger: list[dict[str, Any]]
    questions: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    references: list[dict[str, Any]] = []

    @property
    def only_inserts(self) -> bool:
        """Whether no row that is there changes, nor one of a rare table comes."""
        return not (
            self.resolutions
            or self.schedules
            or self.schedule_changes
            or self.schedule_runs
            or self.deliveries
            or self.settled
            or self.questions
            or self.answers
            or self.references
            or any(row["expires_at"] is not None for row in self.approvals)
        )


def imply(workstream_id: str, version: int, at: str, facts: Sequence[AnyFact]) -> ImpliedRows:
    """The rows of these facts, numbered from `version` + 1."""
    rows = ImpliedRows([], [], [], [], [], [], [], [], [], [])
    digests: set[str] = set()
    for seq, fact in enumerate(facts, version + 1):
        text = encoded_fact(fact)
        rows.events.append(
            {
                "workstream_id": workstream_id,
                "seq": seq,
                "kind": storable(kind_of(fact)),
                "at": at,
                "fact": text,
            }
        )
        rows.ledger.extend(_sealed(workstream_id, fact))
        digests.update(digests_of(fact))
        if isinstance(fact, CallDecided):
            rows.audits.append(
                {
                    "workstream_id": workstream_id,
                    "seq": seq,
                    "at": at,
                    "decision": fact.decision,
                    "fact": text,
                }
            )
        elif isinstance(fact, ApprovalRequested):
            rows.approvals.append(_requested(workstream_id, at, fact, text))
        elif isinstance(fact, ApprovalResolved):
            rows.resolutions.append(_resolved(workstream_id, at, fact))
        elif isinstance(fact, ScheduleCreated):
            rows.schedules.append(_scheduled(workstream_id, at, fact, text))
        elif isinstance(fact, ScheduleChanged):
            rows.schedule_changes.append(_rescheduled(at, fact))
        elif isinstance(fact, NotificationRequested):
            rows.deliveries.append(_to_deliver(workstream_id, at, fact, text))
        elif isinstance(fact, NotificationSettled):
            rows.settled.append({"b_delivery_id": fact.delivery_id})
        elif isinstance(fact, ScheduleTriggered):
            rows.schedule_runs.append(_triggered(workstream_id, fact))
    asked, answered = imply_questions(workstream_id, at, facts)
    references = [{"workstream_id": workstream_id, "digest": each} for each in sorted(digests)]
    return msgspec.structs.replace(rows, questions=asked, answers=answered, references=references)


def _requested(workstream_id: str, at: str, fact: ApprovalRequested, text: str) -> dict[str, Any]:
    return {
        "request_id": fact.request_id,
        "workstream_id": workstream_id,
        "state": "pending",
        "requested_at": at,
        "request": text,
        "expires_at": fact.expires_at,
    }


def _resolved(workstream_id: str, at: str, fact: ApprovalResolved) -> dict[str, Any]:
    return {
        "b_request_id": fact.request_id,
        "b_id": workstream_id,
        "state": _STATE_AFTER[fact.behavior],
        "resolved_at": at,
        "resolved_by": storable(fact.by),
        "scope": fact.scope,
        "reason": storable(fact.reason),
    }


def _scheduled(workstream_id: str, at: str, fact: ScheduleCreated, text: str) -> dict[str, Any]:
    return {
        "schedule_id": fact.schedule_id,
        "workstream_id": workstream_id,
        "name": storable(fact.name),
        "kind": "watch" if fact.watch else str(fact.cadence.__struct_config__.tag),
        "state": "active",
        "spec": text,
        "cadence": msgspec.json.encode(fact.cadence).decode(),
        "next_due": fact.next_due,
        "runs": 0,
        "last_output": None,
        "created_at": at,
        "updated_at": at,
        "detail": "",
    }


def _rescheduled(at: str, fact: ScheduleChanged) -> dict[str, Any]:
    return {
        "b_schedule_id": fact.schedule_id,
        "state": fact.state,
        "next_due": fact.next_due,
        "b_cadence": msgspec.json.encode(fact.cadence).decode() if fact.cadence else None,
        "updated_at": at,
        "detail": storable(fact.detail),
    }


def _triggered(workstream_id: str, fact: ScheduleTriggered) -> dict[str, Any]:
    return {
        "run_id": fact.run_id,
        "schedule_id": fact.schedule_id,
        "workstream_id": workstream_id,
        "kind": "poll" if fact.polls else "fire",
        "due_at": fact.due_at,
        # The clock sees whether another run is open, then hands it over.
        "state": "triggered",
        "handed_at": 0.0,
        "began_at": None,
        "node": "",
        "detail": "",
    }


def _sealed(workstream_id: str, fact: AnyFact) -> list[dict[str, Any]]:
    if not isinstance(fact, CallFinished | CallInterrupted) or fact.ledger is None:
        return []
    seal = fact.ledger
    row = {
        "workstream_id": workstream_id,
        "position": seal.position,
        "call_id": fact.call_id,
        "record": seal.record,
        "record_hash": seal.hash,
        "key_id": seal.key_id,
        "signature": seal.signature,
    }
    return [row]


def _to_deliver(
    workstream_id: str, at: str, fact: NotificationRequested, text: str
) -> dict[str, Any]:
    return {
        "delivery_id": fact.delivery_id,
        "workstream_id": workstream_id,
        "kind": "notify",
        "payload": text,
        "created_at": at,
        "due_at": 0.0,
        "attempts": 0,
    }
