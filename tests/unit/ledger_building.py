"""A small ledger for tests: a workstream's log in memory, sealed as a node does it."""

from collections.abc import Sequence

import msgspec

from redshank_shared.domain.events import (
    AnyFact,
    AskedCall,
    CallDecided,
    CallFinished,
    CallInterrupted,
    CallStarted,
    Effect,
    MessageAnswered,
    WorkstreamCreated,
)
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.ledger_seal import Seal
from redshank_shared.domain.plan import number
from redshank_shared.domain.workstream import Workstream, advance
from redshank_shared.ledger.lines import Key, Line, Logged, Signed, Whole
from redshank_shared.ledger.record import OUTSIDE, response_digest
from redshank_shared.ledger.sealing import Sealer
from redshank_shared.ledger.signing import SigningKey

AT = "2026-11-30T08:15:00.250Z"
BEFORE = "2026-11-29T00:00:00.000Z"
WS = "ws_0000000000000000000001"


def decided(call_id: str, tool: str, effect: Effect) -> CallDecided:
    return CallDecided(
        call_id=call_id,
        tool=tool,
        canonical=tool,
        effect=effect,
        decision="allow",
        base_decision="allow",
        effective_mode="default",
        pattern="*",
        scope="builtin",
        origin="builtin",
        why="asked for",
        input_digest=f"sha256:of {call_id}",
    )


class Log:
    """One workstream, written by one node after the other."""

    def __init__(self, key: SigningKey, workstream: str = WS) -> None:
        self.key = key
        self.state = Workstream(id=WorkstreamId(workstream))
        self.facts: list[AnyFact] = []
        self.append(WorkstreamCreated(name="reed", owner="ana"))

    def append(self, *facts: AnyFact) -> list[AnyFact]:
        """The facts as they stand in the log then."""
        sealed = Sealer(self.key).sealed(self.state, facts, AT)
        self.state = advance(self.state, number(self.state.version, AT, sealed))
        self.facts += sealed
        return sealed

    def begin(self, calls: dict[str, Effect]) -> None:
        """These calls of one batch are asked for, allowed, started."""
        asked = tuple(AskedCall(call_id, f"do_{effect}") for call_id, effect in calls.items())
        self.append(MessageAnswered(calls=asked))
        for call_id, effect in calls.items():
            self.append(decided(call_id, f"do_{effect}", effect))
            self.append(CallStarted(call_id, f"do_{effect}", effect, "marsh-1", 3))

    def run(self, call_id: str, effect: Effect = "process") -> None:
        """One call from its question to its result."""
        self.begin({call_id: effect})
        self.append(finished(call_id, effect))


def finished(call_id: str, effect: Effect = "process") -> CallFinished:
    return CallFinished(call_id, f"do_{effect}", False, f"{call_id} is done", "ok")


def interrupted(call_id: str, effect: Effect = "process") -> CallInterrupted:
    return CallInterrupted(call_id, f"do_{effect}", "marsh-1", "outcome unknown")


def seals(facts: Sequence[AnyFact]) -> list[Seal]:
    """The records that these facts carry."""
    ends = [fact for fact in facts if isinstance(fact, CallFinished | CallInterrupted)]
    return [fact.ledger for fact in ends if fact.ledger is not None]


def exported(*logs: Log) -> list[Line]:
    """What an export of these workstreams holds."""
    keys = {log.key.key_id: log.key for log in logs}
    lines: list[Line] = [Key(key.key_id, key.public_key, BEFORE) for key in keys.values()]
    for log in logs:
        lines += [*_records(log), *_logged(log)]
    return [*lines, Whole(len(lines))]


def without(lines: Sequence[Line], *left_out: Line) -> list[Line]:
    """The export as it would be without these lines."""
    kept = [line for line in lines if line not in left_out and not isinstance(line, Whole)]
    return [*kept, Whole(len(kept))]


def records(lines: Sequence[Line]) -> list[Signed]:
    return [line for line in lines if isinstance(line, Signed)]


def put(lines: Sequence[Line], old: Line, **changes: object) -> list[Line]:
    """The export with one line changed."""
    return [msgspec.structs.replace(line, **changes) if line is old else line for line in lines]


def _records(log: Log) -> list[Signed]:
    ends = [fact for fact in log.facts if isinstance(fact, CallFinished | CallInterrupted)]
    return [
        Signed(
            workstream=log.state.id,
            position=fact.ledger.position,
            call_id=fact.call_id,
            record=fact.ledger.record,
            record_hash=fact.ledger.hash,
            key_id=fact.ledger.key_id,
            signature=fact.ledger.signature,
        )
        for fact in ends
        if fact.ledger is not None
    ]


def _logged(log: Log) -> list[Logged]:
    outside = {
        fact.call_id
        for fact in log.facts
        if isinstance(fact, CallStarted) and fact.effect in OUTSIDE
    }
    return [
        Logged(
            workstream=log.state.id,
            seq=seq,
            at=AT,
            call_id=fact.call_id,
            response_digest=response_digest(fact.output),
            position=fact.ledger.position if fact.ledger else 0,
            record_hash=fact.ledger.hash if fact.ledger else "",
        )
        for seq, fact in enumerate(log.facts, start=1)
        if isinstance(fact, CallFinished | CallInterrupted) and fact.call_id in outside
    ]
