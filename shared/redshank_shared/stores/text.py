"""Text in a form that both databases store."""

from typing import Any

import msgspec

from redshank_shared.domain import events
from redshank_shared.domain.events import AnyFact, Unknown

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def storable(text: str) -> str:
    """The text with NUL (PostgreSQL refuses it) or half characters replaced by U+FFFD (F43)."""
    return whole(text.replace("\0", _REPLACEMENT))


def whole(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD; a pair becomes its character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def encoded_fact(fact: AnyFact) -> str:
    """The fact's JSON text. A NUL is escaped there; half characters become U+FFFD (F43)."""
    try:
        return events.encode(fact)
    except UnicodeEncodeError:
        return events.encode(_mended(fact))


def _mended(fact: AnyFact) -> AnyFact:
    if isinstance(fact, Unknown):
        return Unknown(whole(fact.kind), _whole_throughout(fact.data))
    return msgspec.convert(_whole_throughout(msgspec.to_builtins(fact)), type(fact))


def _whole_throughout(value: Any) -> Any:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {_whole_throughout(key): _whole_throughout(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole_throughout(item) for item in value]
    return value
