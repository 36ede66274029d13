"""The rows that facts imply: the log's own, approvals, audits."""

from collections.abc import Sequence
from typing import Any

import msgspec

from redshank_shared.domain.events import (
    AnyFact,
    ApprovalRequested,
    ApprovalResolved,
    CallDecided,
    kind_of,
)
from redshank_shared.stores.text import encoded_fact, storable

_STATE_AFTER = {"allow": "allowed", "deny": "denied", "cancelled": "cancelled"}


class ImpliedRows(msgspec.Struct, frozen=True):
    """Values for the hot statements, by table; `resolutions` change approvals that are there."""

    events: list[dict[str, Any]]
    audits: list[dict[str, Any]]
    approvals: list[dict[str, Any]]
    resolutions: list[dict[str, Any]]


def imply(workstream_id: str, version: int, at: str, facts: Sequence[AnyFact]) -> ImpliedRows:
    """The rows of these facts, numbered from `version` + 1."""
    rows = ImpliedRows([], [], [], [])
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
    return rows


def _requested(workstream_id: str, at: str, fact: ApprovalRequested, text: str) -> dict[str, Any]:
    return {
        "request_id": fact.request_id,
        "workstream_id": workstream_id,
        "state": "pending",
        "requested_at": at,
        "request": text,
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
