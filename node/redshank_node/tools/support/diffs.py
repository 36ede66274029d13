"""Shows the difference of two texts, in bounded time."""

import difflib

import msgspec

_CONTEXT = 3
_MATCHED_LINES = 1500
_BODY_LINES = 2000


class Difference(msgspec.Struct, frozen=True):
    """A unified diff with the numbers of lines that it adds and removes. A long body is cut.

    The numbers are whole.
    """

    body: str
    added: int
    removed: int


def difference(before: str, after: str, name: str) -> Difference:
    """The unified diff of two texts.

    Where much differs it is one block, so that it never takes long.
    """
    old, new = _lines(before), _lines(after)
    start, end = _same_ends(old, new)
    first = max(start - _CONTEXT, 0)
    tail = max(end - _CONTEXT, 0)
    old_part, new_part = old[first : len(old) - tail], new[first : len(new) - tail]
    if len(old_part) + len(new_part) > _MATCHED_LINES:
        body = [f"-{line}" for line in old[start : len(old) - end]]
        body += [f"+{line}" for line in new[start : len(new) - end]]
        hunks = [
            f"@@ -{start + 1},{len(old) - end - start} +{start + 1},{len(new) - end - start} @@"
        ]
        hunks += body
    else:
        unified = difflib.unified_diff(old_part, new_part, lineterm="", n=_CONTEXT)
        hunks = [_moved(line, first) for line in list(unified)[2:]]
    added = sum(line.startswith("+") for line in hunks)
    removed = sum(line.startswith("-") for line in hunks)
    if len(hunks) > _BODY_LINES:
        hunks = [*hunks[:_BODY_LINES], f"[... {len(hunks) - _BODY_LINES} more lines ...]"]
    head = [f"--- {name}", f"+++ {name}"] if hunks else []
    return Difference("\n".join([*head, *hunks]), added, removed)


def _lines(text: str) -> list[str]:
    """Lines without LF.

    A line without an end and a CR say so, for a diff must show what it changes.
    """
    if not text:
        return []
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    else:
        lines[-1] += "\n\\ No newline at end of file"
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


def _moved(line: str, lines: int) -> str:
    """A hunk's header with its line numbers that many lines further down."""
    if not line.startswith("@@"):
        return line
    parts = line.split(" ")
    for place in (1, 2):
        number, comma, count = parts[place][1:].partition(",")
        parts[place] = f"{parts[place][0]}{int(number) + lines}{comma}{count}"
    return " ".join(parts)
