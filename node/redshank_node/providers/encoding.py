"""Encodes what a model reads: each part once, kept as bytes to be spliced into requests."""

import contextlib
import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import msgspec

_KEPT_BYTES = 64 * 1024 * 1024
_encoder = msgspec.json.Encoder()


class KeptBytes:
    """Encoded parts by key, the longest unused dropped first. Parts never change under a key."""

    def __init__(self, limit_bytes: int = _KEPT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._size = 0
        self._parts: OrderedDict[Hashable, bytes] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """The bytes kept under the key, else those that `make` gives."""
        part = self._parts.get(key)
        if part is not None:
            self._parts.move_to_end(key)
            return part
        part = make()
        self._parts[key] = part
        self._size += len(part)
        while self._size > self._limit_bytes and len(self._parts) > 1:
            _, dropped = self._parts.popitem(last=False)
            self._size -= len(dropped)
        return part


def encoded(value: Any) -> bytes:
    """The value as JSON; what UTF-8 cannot carry becomes a question mark."""
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def decoded(data: bytes) -> Any:
    """The value of JSON bytes, broken UTF-8 in them replaced; ValueError if there is none."""
    # Servers cut answers inside characters, which msgspec refuses.
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        return msgspec.json.decode(data)
    try:
        return json.loads(data.decode("utf-8", "replace"), strict=False)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def mended(text: str) -> str:
    """The text with halves of characters joined, or replaced where the other half is missing."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
