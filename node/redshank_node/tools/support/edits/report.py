"""Tells a model what an edit changed."""

import re

import msgspec

from redshank_node.tools.support.edits.change import EditChange
from redshank_node.tools.support.edits.spans import Span
from redshank_node.tools.support.files.diffs import Difference
from redshank_node.tools.support.truncate import head_of

_SHOWN_BYTES = 16384
_LISTED_LINES = 20
_LISTED_EDITS = 200
_NUMBERED_CONTEXT = 4
_HEADER = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def in_words(path: str, change: EditChange, apply_id: str) -> str:
    """Where it was edited, how many lines came and went; the diff where a person would want to
    look: at a dry run, at old text that matched but for its blanks.
    """
    difference = change.difference(path)
    lines = [change.line_of(span.found[0]) for span in change.spans[:_LISTED_LINES]]
    listed = ", ".join(map(str, lines))
    more = ", ..." if len(change.spans) > _LISTED_LINES else ""
    done = "would be edited" if apply_id else "edited"
    said = (
        f"{path} {done} at line {listed}{more}: "
        f"{difference.added} line(s) added, {difference.removed} removed"
    )
    match = _match(change)
    if match == "fuzzy":
        said += "; match: fuzzy (the old text differs in its blanks)"
    if apply_id:
        said += f"\napplyId: {apply_id}"
    if apply_id or match == "fuzzy":
        said += f"\n{head_of(difference.body, _SHOWN_BYTES)}"
    return said


def as_json(path: str, change: EditChange, apply_id: str) -> str:
    """The same as one JSON object, with the first 200 places (C35)."""
    patch = change.difference(path)
    wide = change.difference(path, _NUMBERED_CONTEXT)
    first = change.line_of(change.spans[0].start)
    told = {
        "success": True,
        "path": path,
        "match": _match(change),
        "firstChangedLine": first,
        "edits": [_edit(change, span) for span in change.spans[:_LISTED_EDITS]],
        "diff": head_of(_numbered(wide), _SHOWN_BYTES),
        "patch": head_of(patch.body, _SHOWN_BYTES),
    }
    if apply_id:
        told["dryRun"] = True
        told["applyId"] = apply_id
    return msgspec.json.encode(told).decode()


def _match(change: EditChange) -> str:
    return "fuzzy" if any(span.match == "fuzzy" for span in change.spans) else "exact"


def _edit(change: EditChange, span: Span) -> dict[str, object]:
    start, end = span.found
    first, last = change.line_of(start), change.line_of(max(end - 1, start))
    kept = change.text[start : span.start] + span.new + change.text[span.end : end]
    return {
        "editIndex": span.edit,
        "startLine": first,
        "endLine": last,
        "newLines": kept.count("\n") + (kept != "" and not kept.endswith("\n")),
        "replacedLines": last - first + 1,
        "match": span.match,
    }


def _numbered(difference: Difference) -> str:
    """The diff's lines with their numbers: in the old file for what goes, else in the new one."""
    shown: list[str] = []
    old = new = 0
    for line in difference.body.split("\n")[2:]:
        header = _HEADER.match(line)
        if header:
            old, new = int(header[1]), int(header[2])
            shown.append("...")
            continue
        number = old if line.startswith("-") else new
        old += not line.startswith(("+", "\\"))
        new += not line.startswith(("-", "\\"))
        shown.append(f"{line[:1]}{number:>5} {line[1:]}")
    return "\n".join(shown[1:])
