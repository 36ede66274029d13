"""Shows the difference of two texts, in bounded time."""

import difflib
from collections.abc import Iterator

import msgspec

from redshank_node.tools.support.files.diff_anchors import grouped, opcodes

_CONTEXT = 3
_MATCHED_LINES = 1500
_BODY_LINES = 2000
_NO_END = "\n\\ No newline at end of file"


class Difference(msgspec.Struct, frozen=True):
    """A unified diff with the numbers of lines that it adds and removes. A long body is cut.

    The numbers are whole.
    """

    body: str
    added: int
    removed: int


def difference(before: str, after: str, name: str, context: int = _CONTEXT) -> Difference:
    """The unified diff of two texts.

    Where much differs between two lines that stay it is one block, so that it never takes long.
    """
    return told(hunks_of(before, after, context), name)


def told(hunks: list[str], name: str, most_lines: int = _BODY_LINES) -> Difference:
    """Hunks with their head, counted; of more than so many lines only the first."""
    added = sum(line.startswith("+") for line in hunks)
    removed = sum(line.startswith("-") for line in hunks)
    if len(hunks) > most_lines:
        hunks = [*hunks[:most_lines], f"[... {len(hunks) - most_lines} more lines ...]"]
    head = [f"--- {name}", f"+++ {name}"] if hunks else []
    return Difference("\n".join([*head, *hunks]), added, removed)


def hunks_of(
    before: str,
    after: str,
    context: int = _CONTEXT,
    skipped: tuple[int, int] = (0, 0),
    to_end: bool = True,
) -> list[str]:
    """The lines of the hunks between two texts. `skipped`: how many lines stand before them in the
    old file, in the new one; without `to_end` more lines follow.
    """
    old, new = _lines(before, to_end), _lines(after, to_end)
    start, end = _same_ends(old, new)
    first = max(start - context, 0)
    tail = max(end - context, 0)
    old_part, new_part = old[first : len(old) - tail], new[first : len(new) - tail]
    moved = (skipped[0] + first, skipped[1] + first)
    if len(old_part) + len(new_part) <= _MATCHED_LINES:
        unified = list(difflib.unified_diff(old_part, new_part, lineterm="", n=context))[2:]
        return [_moved(line, moved) for line in unified]
    return list(_unified(old_part, new_part, context, moved))


def _unified(old: list[str], new: list[str], context: int, moved: tuple[int, int]) -> Iterator[str]:
    """The hunks of long parts, their line numbers that many lines further down."""
    for group in grouped(opcodes(old, new), context):
        (_, i1, _, j1, _), (_, _, i2, _, j2) = group[0], group[-1]
        before, after = _range(i1 + moved[0], i2 - i1), _range(j1 + moved[1], j2 - j1)
        yield f"@@ -{before} +{after} @@"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[i1:i2])
            else:
                yield from (f"-{line}" for line in old[i1:i2])
                yield from (f"+{line}" for line in new[j1:j2])


def _range(lines_before: int, count: int) -> str:
    """Where a hunk is on one side, as unified diffs say it."""
    if count == 1:
        return str(lines_before + 1)
    return f"{lines_before + 1 if count else lines_before},{count}"


def _lines(text: str, to_end: bool) -> list[str]:
    """Lines without LF.

    A line without an end and a CR say so, for a diff must show what it changes.
    """
    if not text:
        return []
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    elif to_end:
        lines[-1] += _NO_END
    return [line.replace("\r", "\\r") for line in lines] if "\r" in text else lines


def _same_ends(old: list[str], new: list[str]) -> tuple[int, int]:
    most = min(len(old), len(new))
    start = 0
    while start < most and old[start] == new[start]:
        start += 1
    end = 0
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return start, end


def _moved(line: str, lines: tuple[int, int]) -> str:
    """A hunk's header with its line numbers that many lines further down."""
    if not line.startswith("@@"):
        return line
    parts = line.split(" ")
    for place in (1, 2):
        number, comma, count = parts[place][1:].partition(",")
        parts[place] = f"{parts[place][0]}{int(number) + lines[place - 1]}{comma}{count}"
    return " ".join(parts)
