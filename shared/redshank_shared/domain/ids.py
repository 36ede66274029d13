"""Identities: what they are made of, how a malformed one is recognised."""

import re
from typing import NewType

from redshank_shared.domain.errors import Invalid

WorkstreamId = NewType("WorkstreamId", str)
CallId = NewType("CallId", str)
RequestId = NewType("RequestId", str)
NodeId = NewType("NodeId", str)

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_SHAPE = re.compile(r"[a-z]{2,4}_[0-9a-hjkmnp-tv-z]{22}")


def new_id(prefix: str, now_ms: int, randomness: bytes) -> str:
    """An id that sorts by time: `prefix_`, ten characters of milliseconds, twelve of randomness (60
    bits of 8 bytes).
    """
    return (
        f"{prefix}_{_base32(now_ms, 10)}{_base32(int.from_bytes(randomness[:8], 'big') >> 4, 12)}"
    )


def checked_id(prefix: str, value: str, field: str) -> str:
    """The value, if it has the shape of such an id; else Invalid that shows the shape."""
    if not value.startswith(f"{prefix}_") or not _SHAPE.fullmatch(value):
        raise Invalid(
            f"{field} must look like {prefix}_ and 22 letters or digits, "
            f"as in {new_id(prefix, 0, bytes(8))}; copy it from a list",
            code="malformed_id",
            field=field,
        )
    return value


def _base32(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        digits.append(_ALPHABET[number & 31])
        number >>= 5
    return "".join(reversed(digits))
