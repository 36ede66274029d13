"""Shows a pinned file as every prompt has it: whole, or its outline with active sections."""

import os
from collections.abc import Sequence

import msgspec

from redshank_node.tools.support.files import paths, textfiles
from redshank_node.tools.support.outlines import outline
from redshank_node.tools.support.outlines.section import Section, lines_of
from redshank_node.tools.tool import BadArguments
from redshank_shared.domain.pins import Pin
from redshank_shared.domain.roots import Ground

MOST_BYTES = 262144
_GONE = ("missing", "dangling", "folder", "not_folder", "not_regular", "escape", "loop", "unmade")


class NotShown(BadArguments):
    """The file cannot stand in a prompt. The message says the mend; `gone`: there is no such file
    any more.
    """

    def __init__(self, message: str, *, gone: bool = False) -> None:
        super().__init__(message)
        self.gone = gone


class PinnedFile(msgspec.Struct, frozen=True):
    """A file that may be pinned. `path` is its key, all links resolved; `sections` stand
    in place of a large text, () where the text itself is shown.
    """

    path: str
    text: str
    sections: tuple[Section, ...]


def read(ground: Ground, path: str) -> PinnedFile:
    """The file at the path as it is now; raises NotShown: no text, larger than 256 KiB (C-18), a
    folder (C-22), not there.
    """
    try:
        with paths.located(ground, path) as place:
            key = place.key
            descriptor = place.open(os.O_RDONLY)
    except paths.PathRefused as refused:
        raise NotShown(str(refused), gone=refused.kind in _GONE) from None
    with open(descriptor, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise NotShown(
            f"path: {path!r} has more than {MOST_BYTES} bytes, so it cannot be kept in sight; "
            "extract the part that you need into a file of its own"
        )
    try:
        text = textfiles.decoded(data).text if data else ""
    except textfiles.NotText as other:
        raise NotShown(f"path: {path!r} is no text but a {other.kind}") from None
    return PinnedFile(key, text, outline.outlined(key, text))


def listed(sections: Sequence[Section]) -> str:
    """The sections a model may name, a line each."""
    return "\n".join(
        f"{section.id}  {section.label} (lines {section.line}-{section.through})"
        for section in sections
    )


def shown(file: PinnedFile, pin: Pin) -> str:
    """What a prompt holds of the file."""
    count = len(lines_of(file.text))
    head = f"== {file.path}, {count} lines"
    if not file.text:
        return f"{head}, empty =="
    if pin.whole or not file.sections:
        return f"{head} ==\n{file.text}"
    active = [section for section in file.sections if section.id in pin.sections]
    parts = [f"{head}; of its sections only the active ones are shown ==", listed(file.sections)]
    parts.extend(
        f"-- {section.id}, from line {section.line} --\n{outline.section_text(file.text, section)}"
        for section in active
    )
    return "\n".join(parts)
