"""The lines of an exported ledger, each told apart by its `kind`."""

from collections.abc import Iterable, Iterator

import msgspec

from redshank_shared.domain.errors import Invalid


class Key(msgspec.Struct, frozen=True, tag="key", tag_field="kind"):
    """A key that a node signs with: its public half in base64. `created_at`: RFC 3339 UTC."""

    key_id: str
    public_key: str
    created_at: str


class Signed(msgspec.Struct, frozen=True, tag="record", tag_field="kind"):
    """A record as it is kept: `record` is the JSON text that `signature` (base64) signs."""

    workstream: str
    position: int
    call_id: str
    record: str
    record_hash: str
    key_id: str
    signature: str


class Logged(msgspec.Struct, frozen=True, tag="logged", tag_field="kind"):
    """A call with an outside effect that has ended, as the workstream's log tells it.

    `seq` and `at`: its end; `position` and `record_hash`: of the record that the log names, 0 and
    empty where it names none.
    """

    workstream: str
    seq: int
    at: str
    call_id: str
    response_digest: str
    position: int = 0
    record_hash: str = ""


class Whole(msgspec.Struct, frozen=True, tag="end", tag_field="kind"):
    """The last line: how many came before it."""

    lines: int


Line = Key | Signed | Logged | Whole
_decoder = msgspec.json.Decoder(Line)


def encoded(line: Line) -> bytes:
    """The line as JSON, with its newline."""
    return msgspec.json.encode(line) + b"\n"


def decoded(lines: Iterable[bytes | str]) -> Iterator[Line]:
    """The lines of an export; Invalid (field `file`) names the first that is none."""
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            yield _decoder.decode(text)
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            raise Invalid(
                f"line {number} is none of an exported ledger: {error}; "
                f"write one with `redshank ledger export`",
                field="file",
            ) from error
