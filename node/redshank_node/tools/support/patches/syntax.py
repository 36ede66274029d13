"""Reads a patch in either of the two forms that models write."""

import re

import msgspec

from redshank_node.tools.support.patches import begin, unified
from redshank_node.tools.support.patches.parts import FilePatch, malformed

_HEREDOC = re.compile(r"\A\s*(?:apply_patch\s+)?<<-?\s*(['\"]?)(\w+)\1\n(.*)\n\2\s*\Z", re.DOTALL)
_FENCED = re.compile(r"\A\s*```\w*\n(.*)\n```\s*\Z", re.DOTALL)


def parsed(text: str) -> tuple[FilePatch, ...]:
    """The files that a patch changes (K12). Several updates of one file are one.

    BadArguments says what is malformed, at which line of the patch.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    if heredoc := _HEREDOC.match(text):
        text = heredoc[3]
    elif fenced := _FENCED.match(text):
        text = fenced[1]
    if text.lstrip("\n ").startswith(begin.BEGIN):
        files = begin.parsed(text.lstrip("\n "))
    else:
        files = unified.parsed(text)
    return _joined(files)


def _joined(files: list[FilePatch]) -> tuple[FilePatch, ...]:
    by_path: dict[str, FilePatch] = {}
    for file in files:
        before = by_path.get(file.path)
        if before is None:
            by_path[file.path] = file
            continue
        if (before.action, file.action) != ("update", "update") or before.move_to or file.move_to:
            raise malformed(f"{file.path} is named twice; say all that happens to it once")
        by_path[file.path] = msgspec.structs.replace(before, hunks=(*before.hunks, *file.hunks))
    return tuple(by_path.values())
