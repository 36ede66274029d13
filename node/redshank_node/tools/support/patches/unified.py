"""Reads unified diffs, whatever their line numbers say."""

import re

import msgspec

from redshank_node.tools.support.patches.git import GitWords, path_of
from redshank_node.tools.support.patches.parts import (
    HEADER,
    FilePatch,
    Hunk,
    PatchLine,
    malformed,
    patch_line,
    without_blank_tail,
)

_NOTHING = "/dev/null"
# What git and others write in front of the two names of a file that stands in two versions.
_PREFIXES = frozenset({("a/", "b/"), ("i/", "w/"), ("c/", "i/"), ("c/", "w/"), ("o/", "w/")})
_SIGNED = re.compile(r"\n-- ?\n\d+\.\d+[^\n]*\s*\Z")
_MAIL = ("--- a/", "--- /dev/null")


def parsed(text: str) -> list[FilePatch]:
    """The files that the diff names, in its order; BadArguments names the line that is wrong.

    What stands before the first file, as a letter does, and git's signature behind the last are
    none of it.
    """
    reader = _Reader(_SIGNED.sub("", text.strip("\n")).split("\n"))
    reader.skip_letter()
    files = []
    while (file := reader.file()) is not None:
        files.append(file)
    if not files:
        raise malformed(
            "it is no patch: begin with *** Begin Patch, or send a unified diff with ---, +++, @@"
        )
    return files


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self._lines = [line.removesuffix("\r") for line in lines]
        self._at = 0

    def skip_letter(self) -> None:
        """Go to where the first file begins, where there is any."""
        for at, line in enumerate(self._lines):
            if line.startswith("diff ") or self._at_head(at):
                self._at = at
                return
            if line.startswith(("@@", "+++ ")):
                return

    def file(self) -> FilePatch | None:
        """The next file, None where there is none."""
        words = GitWords()
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if self._at_head(self._at):
                return self._changed(words)
            if line.startswith("diff ") and words.named:
                return words.file(self._at)
            words.take(line, self._at + 1)
            self._at += 1
        return words.file(self._at) if words.named else None

    def _changed(self, words: GitWords) -> FilePatch:
        old, new = path_of(self._lines[self._at][4:]), path_of(self._lines[self._at + 1][4:])
        self._at += 2
        old, new = _bare(old, new)
        path = new if old == _NOTHING else old
        if path in ("", _NOTHING):
            raise malformed("--- and +++ name no file", self._at)
        hunks: list[Hunk] = []
        while self._at < len(self._lines) and self._lines[self._at].startswith("@@"):
            hunks.append(self._hunk(f"hunk {len(hunks) + 1} of {path}"))
        if not hunks:
            raise malformed(f"{path} has no hunk; begin one with @@", self._at)
        if old == _NOTHING:
            content = _content(hunks, self._at)
            return FilePatch("add", path, content=content, executable=words.executable)
        if new == _NOTHING:
            return FilePatch("delete", path, tuple(hunks))
        file = FilePatch("update", path, tuple(hunks), executable=words.executable)
        if new == old:
            return file
        return msgspec.structs.replace(file, move_to=new, either=not words.renames)

    def _at_head(self, at: int) -> bool:
        following = self._lines[at : at + 2]
        return (
            len(following) == 2
            and following[0].startswith("--- ")
            and following[1].startswith("+++ ")
        )

    def _hunk(self, name: str) -> Hunk:
        header = HEADER.match(self._lines[self._at])
        if header is None:
            raise malformed(f"{self._lines[self._at][:80]!r} is no hunk's head", self._at + 1)
        begins_at = self._at + 1
        self._at += 1
        lines, bare = self._hunk_lines(int(header[2] or 1), int(header[4] or 1))
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

    def _hunk_lines(self, old: int, new: int) -> tuple[list[PatchLine | None], set[str]]:
        """The lines of a hunk that says it has so many, with the marks of those without an end."""
        lines: list[PatchLine | None] = []
        bare: set[str] = set()
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith(("@@", "diff ")) or self._begins_file(old, new):
                break
            if line.startswith("\\"):
                last = lines[-1] if lines else None
                bare.add(last.mark if last is not None else " ")
            else:
                lines.append(patch_line(line, self._at + 1))
                old -= line[:1] != "+"
                new -= line[:1] != "-"
            self._at += 1
        return lines, bare

    def _begins_file(self, old: int, new: int) -> bool:
        """Whether a file begins within a hunk of which so many lines are left: what begins with
        `--- ` may as well be a line that goes and begins with two signs itself.
        """
        if not self._at_head(self._at):
            return False
        behind = next((line for line in self._lines[self._at + 2 :] if line.strip()), "")
        is_line = (old, new) == (1, 1) and not self._lines[self._at].startswith(_MAIL)
        return behind.startswith("@@") and not is_line


def _bare(old: str, new: str) -> tuple[str, str]:
    """Both names without what tells the two versions apart."""
    if (old[:2], new[:2]) in _PREFIXES:
        return old[2:], new[2:]
    if old == _NOTHING:
        return old, new.removeprefix("b/")
    if new == _NOTHING:
        return old.removeprefix("a/"), new
    if f"a/{new}" == old or f"b/{old}" == new:
        return min(old, new, key=len), min(old, new, key=len)
    return old, new


def _content(hunks: list[Hunk], line: int) -> str:
    if len(hunks) != 1 or any(each.mark != "+" for each in hunks[0].lines):
        raise malformed("a new file has one hunk of + lines", line)
    text = "\n".join(each.text for each in hunks[0].lines)
    return text if hunks[0].end_newline is False else f"{text}\n"
