"""Decides whether a call's arguments, as a model streamed them, are whole."""

import contextlib
import json
from typing import Any

import msgspec

_CUT = (
    "The arguments of this call were cut off after {size} characters, before they were whole JSON, "
    "so the call did not run. Send it again with shorter arguments: split long content over "
    "several calls."
)
_NOT_JSON = (
    "The arguments of this call are not valid JSON ({why}), so the call did not run. "
    'Send it again with one JSON object, such as {{"name": "value"}}.'
)


def checked(raw: str, *, cut: bool) -> tuple[str, str]:
    """The arguments as JSON text, with an error for the model ("" when the call may go on).

    Nothing sent means `{}`, unless the answer was `cut` off at its length. Bare words become a JSON
    string, which the tool layer may take for a tool's main argument (T-10); anything else that is
    not an object keeps its text and gets an error (F-40, F-46).
    """
    text = raw.strip()
    if not text:
        return "{}", _CUT.format(size=0) if cut else ""
    value, why = parsed(text)
    if why:
        return _not_whole(text, why, cut=cut)
    if value is None:
        return "{}", ""
    if isinstance(value, dict):
        return _strict(text, value), ""
    if isinstance(value, str):
        inner, _ = parsed(value)
        return (_strict(value, inner), "") if isinstance(inner, dict) else (text, "")
    return text, _NOT_JSON.format(why=f"a JSON {type(value).__name__}, not an object")


def parsed(text: str) -> tuple[Any, str]:
    """The value of a JSON text, with the reason when it is none. Raw line breaks in it pass."""
    # msgspec refuses line breaks in strings and lone surrogates, which models send.
    with contextlib.suppress(msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return msgspec.json.decode(text), ""
    for candidate in (text, text.removeprefix("{}")):
        # Some gateways send "{}" first and the real object behind it.
        try:
            return json.loads(candidate, strict=False), ""
        except (ValueError, RecursionError) as error:
            why = str(error)
    return None, why


def _not_whole(text: str, why: str, *, cut: bool) -> tuple[str, str]:
    if text[0] not in '{["' and not cut:
        return msgspec.json.encode(text.encode("utf-8", "replace").decode()).decode(), ""
    begun = text[0] in '{["' and text[-1] not in "}]"
    if cut or begun:
        return text, _CUT.format(size=len(text))
    return text, _NOT_JSON.format(why=why)


def _strict(text: str, value: dict[str, Any]) -> str:
    """The text itself where any parser takes it; else the value written anew."""
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    return text
