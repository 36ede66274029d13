"""Reads what a call of an edit tool asks for from its arguments."""

from collections.abc import Mapping
from typing import Any

from redshank_node.tools.support.edits.near import (
    RADIUS,
    Anchor,
    LinesAnchor,
    SymbolAnchor,
    TextAnchor,
)
from redshank_node.tools.support.edits.spans import Edit
from redshank_node.tools.support.schema import validated
from redshank_node.tools.tool import BadArguments

_SINGLE = ("old_string", "new_string", "near_line", "near", "replace_all")
_LINES = {
    "type": "object",
    "properties": {
        "startLine": {"type": "integer", "minimum": 1},
        "endLine": {"type": "integer", "minimum": 1},
    },
    "required": ["startLine", "endLine"],
}
_SYMBOL = {
    "type": "object",
    "properties": {
        "symbol": {"type": "string", "minLength": 1},
        "line": {"type": "integer", "minimum": 1},
        "index": {"type": "integer", "minimum": 1},
        "direction": {"type": "string", "enum": ["before", "after"]},
        "radius": {"type": "integer", "minimum": 0, "maximum": 10_000},
    },
    "required": ["symbol"],
}


def edits_of(arguments: Mapping[str, Any], *, refuse_blank: bool = False) -> tuple[Edit, ...]:
    """The one edit or the batch that the call asks for; BadArguments where it asks for both, for
    neither, for anchors that contradict. With `refuse_blank` old text of blanks alone is refused
    (C33).
    """
    if "edits" in arguments:
        single = [key for key in _SINGLE if key in arguments]
        if single:
            raise BadArguments(
                f"{single[0]} cannot stand beside edits; put it into one of the edits"
            )
        edits = tuple(
            _edit(given, f"edits[{place}].") for place, given in enumerate(arguments["edits"])
        )
    else:
        for key in ("old_string", "new_string"):
            if key not in arguments:
                raise BadArguments(f"{key} is required, or edits in place of it")
        edits = (_edit(arguments, ""),)
    for edit in edits:
        if refuse_blank and edit.old and not edit.old.strip():
            raise BadArguments(f"{edit.name} must not be empty: it holds nothing but blanks")
    return edits


def _edit(given: Mapping[str, Any], dot: str) -> Edit:
    near_line, everywhere = given.get("near_line"), given.get("replace_all", False)
    anchors = _anchors(given.get("near"), f"{dot}near")
    if near_line is not None and (everywhere or anchors):
        other = "replace_all" if everywhere else "near"
        raise BadArguments(f"{dot}near_line cannot stand beside {other}; leave one of them out")
    return Edit(
        f"{dot}old_string", given["old_string"], given["new_string"], near_line, everywhere, anchors
    )


def _anchors(given: Any, name: str) -> tuple[Anchor, ...]:
    if given is None or given in ("", []):
        return ()
    if isinstance(given, list):
        return tuple(
            anchor
            for place, each in enumerate(given)
            if each != ""
            for anchor in (_anchor(each, f"{name}[{place}]"),)
        )
    return (_anchor(given, name),)


def _anchor(given: Any, name: str) -> Anchor:
    if isinstance(given, str):
        return TextAnchor(name, given)
    if not isinstance(given, Mapping):
        raise BadArguments(
            f"{name} must be a text, {{startLine, endLine}}, {{symbol, ...}} or a list of these"
        )
    if "symbol" in given:
        return _symbol(_named(given, _SYMBOL, name), name)
    lines = _named(given, _LINES, name)
    return LinesAnchor(name, lines["startLine"], lines["endLine"])


def _symbol(given: Mapping[str, Any], name: str) -> SymbolAnchor:
    if "line" in given and "index" in given:
        raise BadArguments(f"{name}.line cannot stand beside index; leave one of them out")
    return SymbolAnchor(
        name,
        given["symbol"],
        given.get("line"),
        given.get("index"),
        given.get("direction", ""),
        given.get("radius", RADIUS),
    )


def _named(given: Mapping[str, Any], schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    try:
        return validated(given, schema)
    except BadArguments as wrong:
        raise BadArguments(f"{name}: {wrong}") from None
