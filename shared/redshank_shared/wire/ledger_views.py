"""The ledger of outside effects as HTTP clients get it. Times are RFC 3339 UTC."""

from redshank_shared.domain.ledger_seal import Wrong
from redshank_shared.wire.views import View


class RecordView(View):
    """One record. `record` is the JSON text that `signature` (base64) signs, `hash` its hex
    SHA-256; the fields before them are what it says, empty where it says nothing that is whole.
    """

    workstream: str
    position: int
    call_id: str
    tool: str = ""
    effect: str = ""
    node: str = ""
    outcome: str = ""
    at: str = ""
    started_seq: int = 0
    finished_seq: int = 0
    request_digest: str = ""
    response_digest: str = ""
    previous_hash: str = ""
    record: str
    hash: str
    key_id: str
    signature: str


class LedgerKeyView(View):
    """A key that a node has signed with; `public_key`: 32 bytes in base64."""

    key_id: str
    public_key: str
    created_at: str


class FindingView(View):
    """One thing that is wrong; `position` 0 where a call has no record."""

    workstream: str
    position: int
    wrong: Wrong
    reason: str


class LedgerReportView(View):
    """What a check looked at, what it found. `before`: calls that ended before the first key was
    seen.
    """

    whole: bool
    workstreams: int
    records: int
    before: int
    keys: list[str]
    findings: list[FindingView]
