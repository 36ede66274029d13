"""Reads patches of the `*** Begin Patch` form."""

from redshank_node.tools.support.patches.parts import (
    HEADER,
    FilePatch,
    Hunk,
    PatchLine,
    malformed,
    patch_line,
    without_blank_tail,
)

BEGIN = "*** Begin Patch"
_END = "*** End Patch"
_ADD = "*** Add File: "
_DELETE = "*** Delete File: "
_UPDATE = "*** Update File: "
_MOVE = "*** Move to: "
_END_OF_FILE = "*** End of File"
# What a unified diff says of a last line without an end; models write it here too.
_BARE = "\\ No newline"
_MARKERS = (_ADD, _DELETE, _UPDATE)


def parsed(text: str) -> list[FilePatch]:
    """The files that the patch names, in its order; BadArguments names the line that is wrong."""
    lines = text.strip("\n").split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines or lines[-1].strip() != _END:
        raise malformed(f"it must end with {_END}", len(lines))
    reader = _Reader(lines[1:-1])
    files = []
    while not reader.ended:
        files.append(reader.file())
    if not files:
        raise malformed("it changes no file; name one with *** Update File: path")
    return files


class _Reader:
    """Goes through the lines between the first and the last."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = [line.removesuffix("\r") for line in lines]
        self._at = 0

    @property
    def ended(self) -> bool:
        while self._at < len(self._lines) and not self._lines[self._at].strip():
            self._at += 1
        return self._at == len(self._lines)

    @property
    def _number(self) -> int:
        return self._at + 2

    def file(self) -> FilePatch:
        line = self._lines[self._at]
        for marker in _MARKERS:
            if line.startswith(marker):
                path = line[len(marker) :].strip()
                if not path:
                    raise malformed(f"{marker.strip()} names no path", self._number)
                self._at += 1
                return self._of(marker, path)
        raise malformed(
            f"{line[:80]!r} begins no file: use *** Add File:, *** Update File: or "
            "*** Delete File: with a path",
            self._number,
        )

    def _of(self, marker: str, path: str) -> FilePatch:
        if marker == _ADD:
            return FilePatch("add", path, content=self._content())
        if marker == _DELETE:
            if not self._at_marker():
                raise malformed("nothing may follow *** Delete File: path", self._number)
            return FilePatch("delete", path)
        move_to = ""
        if self._at < len(self._lines) and self._lines[self._at].startswith(_MOVE):
            move_to = self._lines[self._at][len(_MOVE) :].strip()
            self._at += 1
        hunks: list[Hunk] = []
        while not self._at_marker():
            hunks.append(self._hunk(f"hunk {len(hunks) + 1} of {path}"))
        if not hunks and not move_to:
            raise malformed(f"{path} has no hunk; begin one with @@", self._number)
        return FilePatch("update", path, tuple(hunks), move_to)

    def _at_marker(self) -> bool:
        at = self._at
        while at < len(self._lines) and not self._lines[at].strip():
            at += 1
        if at == len(self._lines) or self._lines[at].startswith(_MARKERS):
            self._at = at
            return True
        return False

    def _content(self) -> str:
        lines: list[str] = []
        while not self._at_marker():
            line = self._lines[self._at]
            if not line.startswith("+"):
                raise malformed("each line of a new file begins with +", self._number)
            lines.append(line[1:])
            self._at += 1
        return "".join(f"{line}\n" for line in lines)

    def _hunk(self, name: str) -> Hunk:
        anchors, number = self._anchors()
        lines: list[PatchLine | None] = []
        at_end = False
        bare: set[str] = set()
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip() == _END_OF_FILE:
                at_end = True
                self._at += 1
                break
            if line.startswith(("@@", *_MARKERS)):
                break
            if line.startswith(_BARE) and lines:
                last = lines[-1]
                bare.add(last.mark if last is not None else " ")
            else:
                lines.append(patch_line(line, self._number))
            self._at += 1
        body = without_blank_tail(lines)
        if not any(line.mark != " " for line in body):
            raise malformed(f"{name} changes nothing", self._number)
        ended = not bare & {" ", "+"} if bare else None
        return Hunk(name, body, tuple(anchors), number, at_end or bool(bare), ended)

    def _anchors(self) -> tuple[list[str], int | None]:
        """The lines behind @@, with the number that one in the form of a unified diff gives."""
        anchors: list[str] = []
        number: int | None = None
        while self._at < len(self._lines) and self._lines[self._at].startswith("@@"):
            line = self._lines[self._at]
            header = HEADER.match(line)
            if header is not None and header[1]:
                number = int(header[1])
                anchor = header[5].strip()
            else:
                anchor = line[2:].strip().removesuffix("@@").strip()
            anchors += [anchor] if anchor else []
            self._at += 1
        return anchors, number
