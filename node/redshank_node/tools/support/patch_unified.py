"""Reads unified diffs, whatever their line numbers say."""

import re

from redshank_node.tools.support.patch_parts import (
    FilePatch,
    Hunk,
    PatchLine,
    malformed,
    without_blank_tail,
)

_HEADER = re.compile(r"@@+ *-(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@+ ?(.*)|@@")
_NOTHING = "/dev/null"
_BESIDE = (
    "diff ",
    "index ",
    "new file mode",
    "deleted file mode",
    "old mode",
    "new mode",
    "similarity index",
    "rename from",
    "rename to",
    "Index: ",
    "====",
)


def parsed(text: str) -> list[FilePatch]:
    """The files that the diff names, in its order; BadArguments names the line that is wrong."""
    reader = _Reader(text.strip("\n").split("\n"))
    files = []
    while reader.begin_file():
        files.append(reader.file())
    if not files:
        raise malformed(
            "it is no patch: begin with *** Begin Patch, or send a unified diff with ---, +++, @@"
        )
    return files


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self._lines = [line.removesuffix("\r") for line in lines]
        self._at = 0

    def begin_file(self) -> bool:
        """Go on to the next file's head; False where none follows."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if self._at_head(self._at):
                return True
            if line.strip() and not line.startswith(_BESIDE):
                raise malformed(
                    f"{line[:80]!r} is not expected here: a file begins with --- and +++",
                    self._at + 1,
                )
            self._at += 1
        return False

    def file(self) -> FilePatch:
        old, new = _path(self._lines[self._at][4:]), _path(self._lines[self._at + 1][4:])
        self._at += 2
        if old.startswith("a/") and new.startswith("b/"):
            old, new = old[2:], new[2:]
        elif old == _NOTHING:
            new = new.removeprefix("b/")
        elif new == _NOTHING:
            old = old.removeprefix("a/")
        path = new if old == _NOTHING else old
        if path in ("", _NOTHING):
            raise malformed("--- and +++ name no file", self._at)
        hunks: list[Hunk] = []
        while self._at < len(self._lines) and self._lines[self._at].startswith("@@"):
            hunks.append(self._hunk(f"hunk {len(hunks) + 1} of {path}"))
        if not hunks:
            raise malformed(f"{path} has no hunk; begin one with @@", self._at)
        if old == _NOTHING:
            return FilePatch("add", path, content=_content(hunks, self._at))
        if new == _NOTHING:
            return FilePatch("delete", path, tuple(hunks))
        return FilePatch("update", path, tuple(hunks), new if new != old else "")

    def _at_head(self, at: int) -> bool:
        following = self._lines[at : at + 2]
        return (
            len(following) == 2
            and following[0].startswith("--- ")
            and following[1].startswith("+++ ")
        )

    def _hunk(self, name: str) -> Hunk:
        header = _HEADER.match(self._lines[self._at])
        if header is None:
            raise malformed(f"{self._lines[self._at][:80]!r} is no hunk's head", self._at + 1)
        begins_at = self._at + 1
        self._at += 1
        lines: list[PatchLine | None] = []
        bare: set[str] = set()
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith("@@") or line.startswith("diff ") or self._at_head(self._at):
                break
            if line.startswith("\\"):
                last = lines[-1] if lines else None
                bare.add(last.mark if last is not None else " ")
            else:
                lines.append(self._line(line))
            self._at += 1
        body = without_blank_tail(lines)
        if not any(line.mark != " " for line in body):
            raise malformed(f"{name} changes nothing", begins_at)
        section = (header[5] or "").strip()
        return Hunk(
            name,
            body,
            (section,) if section else (),
            int(header[1]) if header[1] else None,
            at_end=bool(bare),
            end_newline=not bare & {" ", "+"} if bare else None,
        )

    def _line(self, line: str) -> PatchLine | None:
        match line[:1]:
            case " " | "-" | "+" as mark:
                return PatchLine(mark, line[1:])
            case "":
                return None
        raise malformed(
            f"{line[:80]!r} must begin with a blank (stays), - (goes) or + (comes)", self._at + 1
        )


def _path(named: str) -> str:
    """The path without what a diff writes behind a tab: a time."""
    return named.split("\t", 1)[0].strip()


def _content(hunks: list[Hunk], line: int) -> str:
    if len(hunks) != 1 or any(each.mark != "+" for each in hunks[0].lines):
        raise malformed("a new file has one hunk of + lines", line)
    text = "\n".join(each.text for each in hunks[0].lines)
    return text if hunks[0].end_newline is False else f"{text}\n"
