"""A projection's form as the columns of a workstream's row."""

from typing import Any, Literal

import msgspec

from redshank_shared.domain.events import WaitFor
from redshank_shared.domain.projection import Projection
from redshank_shared.stores.text import storable

PlainColumn = Literal[
    "name", "title", "owner", "profile", "persona", "mode", "model", "parent", "directed_to",
    "state", "detail",
]  # fmt: skip
NumberColumn = Literal["input_tokens", "output_tokens", "calls", "pending_approvals"]
PLAIN: tuple[PlainColumn, ...] = (
    "name", "title", "owner", "profile", "persona", "mode", "model", "parent", "directed_to",
    "state", "detail",
)  # fmt: skip
NUMBERS: tuple[NumberColumn, ...] = ("input_tokens", "output_tokens", "calls", "pending_approvals")
PROJECTED: tuple[str, ...] = (
    *PLAIN, *NUMBERS, "pending", "labels", "waiting_for", "waiting_kinds", "search_text",
)  # fmt: skip

_encoder = msgspec.json.Encoder()
_decode_labels = msgspec.json.Decoder(tuple[str, ...]).decode
_decode_waits = msgspec.json.Decoder(tuple[WaitFor, ...]).decode


def to_columns(projection: Projection) -> dict[str, Any]:
    """The values of the columns named in PROJECTED."""
    row: dict[str, Any] = {name: storable(getattr(projection, name)) for name in PLAIN}
    for name in NUMBERS:
        row[name] = getattr(projection, name)
    row["pending"] = projection.pending
    row["labels"] = encode_json([storable(label) for label in projection.labels])
    row["waiting_for"] = _encoder.encode(projection.waiting_for).decode()
    row["waiting_kinds"] = waiting_kinds(projection.waiting_for)
    row["search_text"] = f"{row['name']}\n{row['title']}".casefold()
    return row


def from_columns(row: Any) -> Projection:
    """The projection whose columns these are; `row` has them as attributes."""
    return Projection(
        **{name: getattr(row, name) for name in (*PLAIN, *NUMBERS)},
        pending=bool(row.pending),
        labels=_decode_labels(row.labels),
        waiting_for=_decode_waits(row.waiting_for),
    )


def waiting_kinds(waiting_for: tuple[WaitFor, ...]) -> str:
    """The kinds between commas, a comma at both ends, so that one kind can be found as `,kind,`."""
    return "".join(f",{kind}" for kind in dict.fromkeys(wait.kind for wait in waiting_for)) + ","


def encode_json(value: object) -> str:
    """JSON text, no blanks."""
    return _encoder.encode(value).decode()
