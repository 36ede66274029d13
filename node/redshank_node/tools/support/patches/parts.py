"""What a patch says: files with their hunks."""

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from redshank_node.tools.tool import BadArguments

Mark = Literal[" ", "-", "+"]
# A hunk's head: its line and count before and after, what stands behind; or nothing of that.
HEADER = re.compile(r"@@ *-(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(?!@) ?(.*)|@@(?!@)")


class PatchLine(msgspec.Struct, frozen=True):
    """A line that stays, goes or comes, without its end."""

    mark: Mark
    text: str


class Hunk(msgspec.Struct, frozen=True):
    """Lines that change together. `name` says which hunk it is; `anchors` are lines that stand
    before it, in their order; `line` where the patch says it begins, from 1, None where it does not
    say; `at_end`: it ends where the file ends; `end_newline`: whether the file's last line has an
    end then, None for as it was.
    """

    name: str
    lines: tuple[PatchLine, ...]
    anchors: tuple[str, ...] = ()
    line: int | None = None
    at_end: bool = False
    end_newline: bool | None = None

    @property
    def old(self) -> list[str]:
        """The lines that must be there."""
        return [line.text for line in self.lines if line.mark != "+"]

    def without_mark(self) -> "Hunk":
        """The same without a byte order mark, which is no part of a file's first line."""
        lines = (PatchLine(line.mark, line.text.removeprefix("\ufeff")) for line in self.lines)
        return msgspec.structs.replace(self, lines=tuple(lines))


class FilePatch(msgspec.Struct, frozen=True):
    """What a patch does to one file. `content` is what a new file holds; `either`: the patch names
    the file by `path` and by `move_to`, whichever is there is meant; `executable`: whether it can
    be run then, None for as it is.
    """

    action: Literal["add", "update", "delete"]
    path: str
    hunks: tuple[Hunk, ...] = ()
    move_to: str = ""
    content: str = ""
    either: bool = False
    executable: bool | None = None


def malformed(what: str, line: int | None = None) -> BadArguments:
    """The refusal of a patch that cannot be read. `line` is the patch's own, from 1."""
    where = f", line {line}" if line is not None else ""
    return BadArguments(f"patch{where}: {what}")


def patch_line(line: str, number: int) -> PatchLine | None:
    """A hunk's line by its mark; None for one without, which is an empty line. `number` is the
    patch's own, from 1; any other mark is malformed.
    """
    match line[:1]:
        case " " | "-" | "+" as mark:
            return PatchLine(mark, line[1:])
        case "":
            return None
    raise malformed(f"{line[:80]!r} must begin with a blank (stays), - (goes) or + (comes)", number)


def without_blank_tail(lines: Iterable[PatchLine | None]) -> tuple[PatchLine, ...]:
    """The lines; None stands for an empty one without a mark, which is context but for the last
    ones: a patch often ends with empty lines that mean nothing.
    """
    kept = list(lines)
    while kept and kept[-1] is None:
        kept.pop()
    return tuple(PatchLine(" ", "") if line is None else line for line in kept)
