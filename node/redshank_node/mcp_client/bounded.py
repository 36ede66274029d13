"""Turns a server's answer into the parts of a bounded result (K-70, C-54)."""

import base64
import binascii
import re
from collections.abc import Iterable
from typing import Any, Literal, assert_never

import msgspec

from redshank_node.mcp_client.bounded_json import bounded
from redshank_node.mcp_client.calling import (
    AudioContent,
    Called,
    Content,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)
from redshank_node.mcp_client.harmless import bounded_text, one_line

MOST_CONTENT_ITEMS = 64
MOST_TEXT_CHARACTERS = 32_768
MOST_BINARY_CHARACTERS = 4_096
_NAME_CHARACTERS = 512
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,64}/[\w.+-]{1,64}", re.ASCII)

Form = Literal["text", "json"]


class Binary(msgspec.Struct, frozen=True):
    """Bytes in an answer, to be kept; `what` says what they are, `shown` whether a model that sees
    may be shown them.
    """

    what: Literal["image", "audio", "resource"]
    media_type: str
    body: bytes
    shown: bool = False


Part = str | Binary


class Parts(msgspec.Struct, frozen=True):
    """An answer's items in their order; `structured` is what stands behind them, as JSON text,
    empty where there is none.
    """

    said: tuple[Part, ...]
    structured: str = ""


def parts(called: Called, form: Form) -> Parts:
    """What the answer says, 64 items at most. In `text` structured content counts only where no
    text says the same; in `json` every item is a JSON line of its own (C-54).
    """
    made: list[Part] = []
    for place, item in enumerate(called.content[:MOST_CONTENT_ITEMS]):
        role = called.roles[place] if place < len(called.roles) else ""
        part = _part(item) if form == "text" else _json_part(item)
        made.append(f"[{one_line(role, 64)}]: {part}" if role and isinstance(part, str) else part)
    if (left_out := len(called.content) - MOST_CONTENT_ITEMS) > 0:
        made.append(f"[{left_out} more items left out]")
    if called.structured is None or (form == "text" and _repeats(called)):
        return Parts(tuple(made))
    return Parts(tuple(made), _structured(called.structured, form))


def whole(texts: Iterable[str], structured: str = "") -> str:
    """The items as one text of at most 32,768 characters; as many for what is structured."""
    room, kept = MOST_TEXT_CHARACTERS, []
    for text in texts:
        if room <= 0:
            kept.append("[more left out]")
            break
        kept.append(bounded_text(text, room))
        room -= len(text) + 1
    if structured:
        kept.append(bounded_text(structured, MOST_TEXT_CHARACTERS))
    return "\n".join(kept)


def _part(item: Content) -> Part:
    match item:
        case TextContent(text):
            return bounded_text(text, MOST_TEXT_CHARACTERS)
        case ImageContent(data, media_type):
            return _binary("image", data, media_type)
        case AudioContent(data, media_type):
            return _binary("audio", data, media_type)
        case ResourceLink():
            about = one_line(" ".join((item.name, item.description)), _NAME_CHARACTERS)
            return f"[a resource: {one_line(item.uri, _NAME_CHARACTERS)} {about}]".replace(
                " ]", "]"
            )
        case EmbeddedResource():
            if item.text is not None:
                return bounded_text(item.text, MOST_TEXT_CHARACTERS)
            return _binary("resource", item.blob, item.media_type)
        case _:
            assert_never(item)


def _binary(
    what: Literal["image", "audio", "resource"], data: str, media_type: str
) -> Binary | str:
    """The bytes, or what they were if they are no base64."""
    kind = media_type if _MEDIA_TYPE.fullmatch(media_type) else "application/octet-stream"
    try:
        body = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return f"[{what}, {kind}: {len(data)} characters that are no base64, left out]"
    return Binary(what, kind, body, shown=what == "image")


def _json_part(item: Content) -> str:
    """The item as MCP writes it; of bytes beyond 4,096 characters only type and size."""
    match item:
        case TextContent(text):
            said: dict[str, Any] = {"type": "text", "text": text}
        case ImageContent(data, media_type):
            said = {"type": "image", "mimeType": media_type, "data": _short(data, media_type)}
        case AudioContent(data, media_type):
            said = {"type": "audio", "mimeType": media_type, "data": _short(data, media_type)}
        case ResourceLink():
            said = {"type": "resource_link", "uri": item.uri, "name": item.name}
        case EmbeddedResource():
            held = {"uri": item.uri, "mimeType": item.media_type}
            if item.text is None:
                held["blob"] = _short(item.blob, item.media_type)
            else:
                held["text"] = item.text
            said = {"type": "resource", "resource": held}
        case _:
            assert_never(item)
    return _encoded(said)


def _short(data: str, media_type: str) -> str:
    if len(data) <= MOST_BINARY_CHARACTERS:
        return data
    return f"[{one_line(media_type, 128)}, {len(data) * 3 // 4} bytes, left out]"


def _structured(value: Any, form: Form) -> str:
    shown = bounded(value)
    return _encoded({"structuredContent": shown}) if form == "json" else _encoded(shown)


def _encoded(value: Any) -> str:
    return msgspec.json.encode(bounded(value) if isinstance(value, dict) else value).decode()


def _repeats(called: Called) -> bool:
    """Servers say structured content as text too, for those who read no other."""
    if len(called.content) != 1:
        return False
    item = called.content[0]
    if not isinstance(item, TextContent) or len(item.text) > MOST_TEXT_CHARACTERS:
        return False
    try:
        said = msgspec.json.decode(item.text)
        return bool(said == called.structured or {"result": said} == called.structured)
    except (msgspec.DecodeError, RecursionError):
        return bool(called.structured == {"result": item.text})
