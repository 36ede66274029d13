"""Finds what is wrong with a ledger: changed, missing, reordered, foreign records."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.ledger_seal import Wrong
from redshank_shared.ledger.lines import Key, Line, Logged, Signed, Whole
from redshank_shared.ledger.record import EffectRecord, genesis, hash_of, parsed
from redshank_shared.ledger.signing import has_signed, names_key


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong. `position`: in the workstream's chain, 0 where a call has none."""

    workstream: str
    position: int
    wrong: Wrong
    reason: str


class Report(msgspec.Struct, frozen=True):
    """What was looked at, what was wrong. `before`: calls that ended before the ledger's first key
    was seen, which have no record.
    """

    workstreams: int
    records: int
    before: int
    keys: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def is_whole(self) -> bool:
        """Whether nothing was wrong."""
        return not self.findings


def verify(lines: Iterable[Line], trusted: frozenset[str] = frozenset()) -> Report:
    """Look at an exported ledger, keys first, then each workstream's lines together (B-8).

    `trusted`: the ids of the keys that count, any that the ledger names where it is empty. Invalid
    (field `file`) where the export was cut off.
    """
    judged = _Judged(trusted)
    for kind, group in groupby(_counted(lines), key=_belongs_to):
        if not kind:
            judged.keys.extend(line for line in group if isinstance(line, Key))
        else:
            judged.look_at(kind, list(group))
    return Report(
        workstreams=len(judged.seen),
        records=judged.records,
        before=judged.before,
        keys=tuple(sorted(judged.known)),
        findings=tuple(judged.findings),
    )


def _counted(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines before the last, which must say how many they are."""
    count, ended = 0, False
    for line in lines:
        if ended:
            raise Invalid("the export goes on behind its last line; export it anew", field="file")
        if isinstance(line, Whole):
            ended = line.lines == count
            if not ended:
                break
        else:
            count += 1
            yield line
    if not ended:
        raise Invalid("the export is not whole: lines are missing; export it anew", field="file")


def _belongs_to(line: Line) -> str:
    return line.workstream if isinstance(line, Signed | Logged) else ""


class _Judged:
    """What a pass over a ledger has found so far."""

    def __init__(self, trusted: frozenset[str]) -> None:
        self._trusted = trusted
        self.keys: list[Key] = []
        self.seen: set[str] = set()
        self.records = 0
        self.before = 0
        self.findings: list[Finding] = []

    @property
    def known(self) -> dict[str, str]:
        """The public keys that count, by id."""
        return {
            key.key_id: key.public_key
            for key in self.keys
            if names_key(key.key_id, key.public_key)
            and (not self._trusted or key.key_id in self._trusted)
        }

    def look_at(self, workstream: str, lines: Sequence[Line]) -> None:
        """Take in the lines of one workstream."""
        if workstream in self.seen:
            self._wrong(workstream, 0, "reordered", "its lines do not stand together")
        self.seen.add(workstream)
        records = [line for line in lines if isinstance(line, Signed)]
        logged = [line for line in lines if isinstance(line, Logged)]
        self.records += len(records)
        self._chain(workstream, records)
        self._against_log(workstream, records, logged)

    def _chain(self, workstream: str, records: Sequence[Signed]) -> None:
        known = self.known
        expected, previous = 1, genesis(workstream)
        for signed in self._in_order(workstream, records):
            position = signed.position
            if position > expected:
                gap = f"{expected}" if position == expected + 1 else f"{expected} to {position - 1}"
                self._wrong(workstream, expected, "missing", f"there is no record {gap}")
                previous = ""
            wrong = _wrong_with(signed, known, previous)
            if wrong is not None:
                self._wrong(workstream, position, *wrong)
            # Behind a record that is wrong, the next one's link says nothing new.
            previous = "" if wrong is not None else signed.record_hash
            expected = position + 1

    def _in_order(self, workstream: str, records: Sequence[Signed]) -> list[Signed]:
        """One record a position."""
        placed: dict[int, Signed] = {}
        last = 0
        for signed in records:
            if signed.position <= last:
                why = "it stands behind a later record, or twice"
                self._wrong(workstream, signed.position, "reordered", why)
            last = max(last, signed.position)
            placed.setdefault(signed.position, signed)
        return [placed[position] for position in sorted(placed)]

    def _against_log(
        self, workstream: str, records: Sequence[Signed], logged: Sequence[Logged]
    ) -> None:
        by_position = {signed.position: signed for signed in records}
        began = min((key.created_at for key in self.keys), default="")
        named: set[int] = set()
        last = max(by_position, default=0)
        for call in logged:
            named.add(call.position)
            signed = by_position.get(call.position)
            what = f"call {call.call_id}, number {call.seq} of the log"
            if not call.position and call.at < began:
                self.before += 1
            elif not call.position:
                self._wrong(workstream, 0, "missing", f"{what}, has no record")
            elif signed is None and call.position > last:
                self._wrong(workstream, call.position, "missing", f"{what}, had its record here")
            elif signed is not None:
                self._same(signed, call, what)
        for position in sorted(set(by_position) - named):
            self._wrong(workstream, position, "foreign", "the log knows no such call")

    def _same(self, signed: Signed, call: Logged, what: str) -> None:
        """Whether record and log tell the same of a call."""
        record = parsed(signed.record)
        if record is None:
            return
        if signed.record_hash != call.record_hash:
            why = f"the log sealed another record for {what}"
            self._wrong(call.workstream, call.position, "changed", why)
        elif (record.call_id, record.finished_seq) != (call.call_id, call.seq):
            why = f"the log names it for {what}; it was signed for call {record.call_id}"
            self._wrong(call.workstream, call.position, "changed", why)
        elif record.response_digest != call.response_digest:
            why = f"the log's output of {what}, is not the one that was signed"
            self._wrong(call.workstream, call.position, "changed", why)

    def _wrong(self, workstream: str, position: int, wrong: Wrong, reason: str) -> None:
        if not any(
            finding.workstream == workstream and finding.position == position != 0
            for finding in self.findings[-50:]
        ):
            self.findings.append(Finding(workstream, position, wrong, reason))


def _wrong_with(signed: Signed, known: dict[str, str], previous: str) -> tuple[Wrong, str] | None:
    """What is wrong with one record, given the hash it must follow (empty: any)."""
    record = parsed(signed.record)
    if record is None:
        return "changed", "its text is no record"
    if signed.key_id not in known:
        return "foreign", f"no known key signed it: {signed.key_id}"
    if hash_of(signed.record) != signed.record_hash:
        return "changed", "its text does not have its hash"
    if not has_signed(known[signed.key_id], signed.record, signed.signature):
        return "changed", f"key {signed.key_id} did not sign it"
    return _out_of_place(signed, record, previous)


def _out_of_place(signed: Signed, record: EffectRecord, previous: str) -> tuple[Wrong, str] | None:
    if record.workstream != signed.workstream:
        return "foreign", f"it is record {record.position} of workstream {record.workstream}"
    if record.position != signed.position:
        return "reordered", f"it was signed as record {record.position}"
    if record.call_id != signed.call_id:
        return "changed", f"it was signed for call {record.call_id}"
    if previous and record.previous_hash != previous:
        return "changed", "it does not follow the record before it"
    return None
