"""Finds known secrets that are broken over lines, as `base64` or `xxd -p` print what is long."""

import re
import string
from collections.abc import Iterator, Sequence

# Lines of so many signs may go on in the next one.
_SHORTEST_LINE = 32
_SIGNS = f"{string.ascii_letters}{string.digits}+/=_-"
_SIGN = f"[{_SIGNS}]"
# A line's end with the indent behind it; in a text within JSON it is written as `\n`.
_END = r"(?:\r?\n[ \t]{0,32}|(?:\\r)?\\n)"
# Cheap to look for, since it begins with what is rare: is there such a line at all?
_JOINT = re.compile(
    "|".join(rf"{end}(?<={_SIGN}{{{_SHORTEST_LINE}}}{end})" for end in (r"\n", r"\r", r"\\"))
)
_RUN = re.compile(rf"(?<!{_SIGN}){_SIGN}{{{_SHORTEST_LINE},}}(?:{_END}{_SIGN}+)+")
_BREAK = re.compile(_END)


def wrapped_spans(text: str, forms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where in the text a form stands with line ends within: its beginning, its end."""
    if _JOINT.search(text) is None:
        return
    for run in _RUN.finditer(text):
        joined = _BREAK.sub("", run[0])
        found = [form for form in forms if form in joined]
        places = _places(run[0], run.start()) if found else []
        for form in found:
            at = joined.find(form)
            while at != -1:
                first, last = places[at], places[at + len(form) - 1]
                if last - first >= len(form):
                    yield first, last + 1
                at = joined.find(form, at + len(form))


def without_wrapped(text: str, forms: Sequence[str], mask: str) -> str:
    """The text with each form masked that stands in it with line ends within."""
    spans = sorted(wrapped_spans(text, forms))
    if not spans:
        return text
    shown, at = [], 0
    for first, end in spans:
        if first >= at:
            shown += [text[at:first], mask]
        at = max(at, end)
    return "".join((*shown, text[at:]))


def open_run(text: str, cut: int, most: int) -> int:
    """Where the lines begin, at most so many signs back, that end at the cut and may go on behind
    it; the cut itself where there are none.
    """
    held, least = text[max(0, cut - most) : cut], max(0, cut - most)
    begin = len(held)
    while True:
        before = held[:begin].rstrip(" \t")
        lines = before.rstrip("\r\n")
        word = len(lines) - len(lines.rstrip(_SIGNS))
        if lines == before or word < _SHORTEST_LINE:
            return least + begin
        begin = len(lines) - word


def _places(run: str, start: int) -> list[int]:
    """Where each sign of the run stands in the text, its line ends left out."""
    places: list[int] = []
    at = 0
    for broken in _BREAK.finditer(run):
        places.extend(range(start + at, start + broken.start()))
        at = broken.end()
    places.extend(range(start + at, start + len(run)))
    return places
