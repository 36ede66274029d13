"""Pages of a list: their bounds, their cursors."""

import base64
import binascii
from typing import Generic, TypeVar

import msgspec

from redshank_shared.domain.errors import Invalid

Item = TypeVar("Item")
Key = TypeVar("Key")

LARGEST_PAGE = 200


class Page(msgspec.Struct, Generic[Item], frozen=True):
    """Some items in order; `total` counts the whole list.

    `next_cursor` goes on behind them; None at the end.
    """

    items: tuple[Item, ...]
    next_cursor: str | None
    total: int


def checked_limit(limit: int) -> int:
    """The limit, if it is 1 to 200; else Invalid (field `limit`)."""
    if not 1 <= limit <= LARGEST_PAGE:
        raise Invalid(f"limit must be 1 to {LARGEST_PAGE}, not {limit}", field="limit")
    return limit


def encode_cursor(key: object) -> str:
    """An opaque text that stands for a place in a list."""
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


def decode_cursor(cursor: str, shape: type[Key]) -> Key:
    """The key that `encode_cursor` was given; Invalid (field `cursor`) for any other text."""
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        return msgspec.json.decode(base64.b64decode(padded, b"-_", validate=True), type=shape)
    except (UnicodeEncodeError, UnicodeDecodeError, binascii.Error, msgspec.MsgspecError) as error:
        raise Invalid(
            "cursor is none that this list gave out: use next_cursor as it came, or leave it out",
            code="bad_cursor",
            field="cursor",
        ) from error


def cut(rows: list[Item], limit: int) -> tuple[list[Item], bool]:
    """The first `limit` of the rows; whether there were more."""
    return rows[:limit], len(rows) > limit
