"""What may follow what in the life of a call, as a table."""

from typing import Literal

CallStatus = Literal[
    "asked", "allowed", "awaiting", "approved", "edited", "denied", "started", "done"
]

# A call's status and the kind of the fact that comes next -> its new status. What is not here may
# not happen. A call that a person must allow stays undecided until the person is asked, so that it
# cannot run in between.
CALL_FOLLOWS: dict[tuple[CallStatus, str], CallStatus] = {
    ("asked", "decided:allow"): "allowed",
    ("asked", "decided:ask"): "asked",
    ("asked", "decided:deny"): "denied",
    ("asked", "approval.requested"): "awaiting",
    ("asked", "call.finished"): "done",
    ("awaiting", "resolved:allow"): "approved",
    ("awaiting", "resolved:edited"): "edited",
    ("awaiting", "resolved:deny"): "denied",
    ("awaiting", "resolved:cancelled"): "denied",
    ("edited", "decided:allow"): "approved",
    ("edited", "decided:ask"): "approved",
    ("edited", "decided:deny"): "denied",
    ("edited", "call.finished"): "done",
    ("allowed", "call.started"): "started",
    ("allowed", "call.finished"): "done",
    ("allowed", "decided:deny"): "denied",
    ("approved", "decided:deny"): "denied",
    ("approved", "call.started"): "started",
    ("approved", "call.finished"): "done",
    ("denied", "call.finished"): "done",
    ("started", "call.started"): "started",
    ("started", "call.finished"): "done",
    ("started", "call.interrupted"): "done",
}


def next_status(status: CallStatus, step: str) -> CallStatus | None:
    """The status that follows, or None where this may not happen to a call in this status."""
    return CALL_FOLLOWS.get((status, step))
