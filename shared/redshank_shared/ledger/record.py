"""The record of one outside effect: what is said of it, in the one form that is hashed."""

import hashlib
from typing import get_args

import msgspec

from redshank_shared.domain.events import CallFinished, CallInterrupted, Effect

# What happens in a process of its own or beyond this machine (K-7).
OUTSIDE: frozenset[Effect] = frozenset(("process", "network", "mcp", "deliver"))
assert frozenset(get_args(Effect)) > OUTSIDE

# An interrupted call's outcome: nobody saw how it ended.
UNKNOWN = "unknown"


class EffectRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One call with an outside effect, from its start to its end.

    `started_seq`, `finished_seq`: its places in the workstream's log; `at` (RFC 3339 UTC) when it
    ended; `node` ran it. The digests are `sha256:` with the hex digest: of the tool with its
    arguments, of the output as the log has it. `previous_hash`: the record before, or the
    workstream's `genesis`.
    """

    workstream: str
    position: int
    call_id: str
    tool: str
    effect: str
    started_seq: int
    finished_seq: int
    node: str
    request_digest: str
    response_digest: str
    outcome: str
    at: str
    previous_hash: str


_decoder = msgspec.json.Decoder(EffectRecord)


def canonical(record: EffectRecord) -> str:
    """The record as JSON: keys sorted, no spaces."""
    return msgspec.json.encode(record, order="sorted").decode()


def parsed(text: str) -> EffectRecord | None:
    """The record that this text is the canonical form of; None for any other text."""
    try:
        record = _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None
    return record if canonical(record) == text else None


def hash_of(text: str) -> str:
    """The hex SHA-256 of a record's canonical text."""
    return hashlib.sha256(_bytes(text)).hexdigest()


def genesis(workstream: str) -> str:
    """What the first record of a workstream follows: no two workstreams' chains begin alike."""
    return hash_of(f"redshank ledger of {workstream}")


def response_digest(output: str) -> str:
    """`sha256:` with the hex digest of an output."""
    return f"sha256:{hash_of(output)}"


def outcome_of(fact: CallFinished | CallInterrupted) -> str:
    """How the call ended, in one word."""
    return fact.outcome if isinstance(fact, CallFinished) else UNKNOWN


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")
