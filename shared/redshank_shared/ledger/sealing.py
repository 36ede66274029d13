"""Adds its record to each fact that ends a call with an outside effect."""

from collections.abc import Sequence

import msgspec

from redshank_shared.domain.digests import input_digest
from redshank_shared.domain.events import AnyFact, CallFinished, CallInterrupted, CallStarted
from redshank_shared.domain.ledger_seal import ChainEnd, Seal
from redshank_shared.domain.workstream import Call, Workstream
from redshank_shared.ledger.record import (
    OUTSIDE,
    EffectRecord,
    canonical,
    genesis,
    hash_of,
    outcome_of,
    response_digest,
)
from redshank_shared.ledger.signing import SigningKey


class _Ended(msgspec.Struct, frozen=True):
    """An outside effect, from its start to the fact that ends it."""

    call: Call
    started: CallStarted
    fact: CallFinished | CallInterrupted


class Sealer:
    """Signs with one key. Any node goes on with any chain: where it ends stands in the log."""

    def __init__(self, key: SigningKey) -> None:
        self._key = key

    def sealed(self, state: Workstream, facts: Sequence[AnyFact], at: str) -> list[AnyFact]:
        """The facts that go behind `state.version` at this time, the ends of outside effects among
        them with their records, chained to what the log has (K-7, B-8).
        """
        end = state.ledger
        sealed: list[AnyFact] = []
        for seq, fact in enumerate(facts, state.version + 1):
            ended = _effect_ended_by(state, fact)
            if ended is None:
                sealed.append(fact)
                continue
            seal = self._seal(_record(state.id, ended, end, seq, at))
            sealed.append(msgspec.structs.replace(ended.fact, ledger=seal))
            end = ChainEnd(seal.position, seal.hash)
        return sealed

    def _seal(self, record: EffectRecord) -> Seal:
        text = canonical(record)
        return Seal(
            position=record.position,
            hash=hash_of(text),
            key_id=self._key.key_id,
            signature=self._key.sign(text),
            record=text,
        )


def _effect_ended_by(state: Workstream, fact: AnyFact) -> _Ended | None:
    if not isinstance(fact, CallFinished | CallInterrupted):
        return None
    call = state.calls.get(fact.call_id)
    if call is None or call.status != "started" or call.started is None:
        return None
    return _Ended(call, call.started, fact) if call.started.effect in OUTSIDE else None


def _record(workstream: str, ended: _Ended, end: ChainEnd, seq: int, at: str) -> EffectRecord:
    call, decided = ended.call, ended.call.decided
    asked = decided.input_digest if decided else input_digest(call.asked.tool, call.arguments)
    return EffectRecord(
        workstream=workstream,
        position=end.position + 1,
        call_id=call.asked.call_id,
        tool=decided.canonical if decided else call.asked.tool,
        effect=ended.started.effect,
        started_seq=call.started_seq,
        finished_seq=seq,
        node=ended.started.node,
        request_digest=asked,
        response_digest=response_digest(ended.fact.output),
        outcome=outcome_of(ended.fact),
        at=at,
        previous_hash=end.hash or genesis(workstream),
    )
