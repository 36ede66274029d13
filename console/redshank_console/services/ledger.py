"""Answers what the ledger of outside effects holds, whether it is whole."""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from redshank_shared.ledger.lines import Key, Line, Signed, Whole, encoded
from redshank_shared.ledger.record import parsed
from redshank_shared.ledger.verifying import Finding, Report, verify
from redshank_shared.stores.database import Database
from redshank_shared.stores.ledger import Ledger
from redshank_shared.wire.ledger_views import (
    FindingView,
    LedgerKeyView,
    LedgerReportView,
    RecordView,
)
from redshank_shared.wire.views import PageView

MOST_FINDINGS = 1000
_SAID = (
    "tool",
    "effect",
    "node",
    "outcome",
    "at",
    "started_seq",
    "finished_seq",
    "request_digest",
    "response_digest",
    "previous_hash",
)


class LedgerReading:
    """Reads only. Every method raises Unavailable while the database does not answer."""

    def __init__(self, database: Database, ledger: Ledger) -> None:
        self._database = database
        self._ledger = ledger

    async def page(
        self, workstream_id: str, limit: int, cursor: str | None
    ) -> PageView[RecordView]:
        """Records, or with an id those of one workstream, in order; Invalid names the field."""
        page = await self._database.run(self._ledger.page, workstream_id, limit, cursor)
        items = [_view(signed) for signed in page.items]
        return PageView(items=items, next_cursor=page.next_cursor, total=page.total)

    async def keys(self) -> PageView[LedgerKeyView]:
        """Every key that a node has signed with, the oldest first."""
        keys = await self._database.run(self._ledger.known_keys)
        items = [
            LedgerKeyView(key_id=k.key_id, public_key=k.public_key, created_at=k.created_at)
            for k in keys
        ]
        return PageView(items=items, next_cursor=None, total=len(items))

    async def export(self, workstream_id: str) -> AsyncIterator[bytes]:
        """The lines that `verify` reads, of one workstream or of all."""
        count = 0
        keys: list[Line] = [*await self._database.run(self._ledger.known_keys)]
        yield b"".join(map(encoded, keys))
        count += len(keys)
        async for lines in self._chains(workstream_id):
            yield b"".join(map(encoded, lines))
            count += len(lines)
        yield encoded(Whole(count))

    async def verify(self, workstream_id: str) -> LedgerReportView:
        """Whether one workstream's chain is whole, or everyone's; at most 1,000 findings (B-8)."""
        keys = await self._database.run(self._ledger.known_keys)
        whole = Report(0, 0, 0, tuple(key.key_id for key in keys), ())
        async for lines in self._chains(workstream_id):
            whole = _both(whole, await asyncio.to_thread(_verified, keys, lines))
            if len(whole.findings) >= MOST_FINDINGS:
                break
        return LedgerReportView(
            whole=whole.is_whole,
            workstreams=whole.workstreams,
            records=whole.records,
            before=whole.before,
            keys=list(whole.keys),
            findings=[_finding(each) for each in whole.findings[:MOST_FINDINGS]],
        )

    async def _chains(self, workstream_id: str) -> AsyncIterator[list[Line]]:
        """The lines of each workstream that has any."""
        ids = [workstream_id] if workstream_id else await self._ids("")
        while ids:
            for each in ids:
                if lines := await self._database.run(self._ledger.lines, each):
                    yield lines
            ids = [] if workstream_id else await self._ids(ids[-1])

    async def _ids(self, after: str) -> list[str]:
        return await self._database.run(self._ledger.workstreams, after)


def _verified(keys: list[Key], lines: list[Line]) -> Report:
    return verify([*keys, *lines, Whole(len(keys) + len(lines))])


def _both(one: Report, other: Report) -> Report:
    return Report(
        one.workstreams + other.workstreams,
        one.records + other.records,
        one.before + other.before,
        one.keys,
        one.findings + other.findings,
    )


def _finding(finding: Finding) -> FindingView:
    return FindingView(**msgspec.structs.asdict(finding))


def _view(signed: Signed) -> RecordView:
    record = parsed(signed.record)
    said = {name: getattr(record, name) for name in _SAID} if record is not None else {}
    return RecordView(
        workstream=signed.workstream,
        position=signed.position,
        call_id=signed.call_id,
        record=signed.record,
        hash=signed.record_hash,
        key_id=signed.key_id,
        signature=signed.signature,
        **said,
    )
