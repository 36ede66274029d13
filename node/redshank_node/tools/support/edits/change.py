"""What an edit does to a file as it is now."""

import os
from collections.abc import Mapping
from typing import Any

import msgspec

from redshank_node.tools.support.edits.arguments import edits_of
from redshank_node.tools.support.edits.diff import difference_of
from redshank_node.tools.support.edits.engine import located_edits
from redshank_node.tools.support.edits.frontmatter import body_start
from redshank_node.tools.support.edits.spans import Edit, Span, replaced
from redshank_node.tools.support.files import paths, textfiles, writing
from redshank_node.tools.support.files.diffs import Difference
from redshank_node.tools.support.files.file_digests import digest_of, still_is
from redshank_node.tools.tool import BadArguments, Workspace

MAX_BYTES = 8 << 20
_MARK = "\ufeff"


class Found(msgspec.Struct, frozen=True):
    """A file's bytes with their digest. `path` is its key, all links resolved; `info` is
    what a look at it said.
    """

    path: str
    data: bytes
    sha256: str
    info: os.stat_result | None = None


class EditChange(msgspec.Struct, frozen=True):
    """A file's text before, what is replaced in it."""

    found: Found
    text: str
    spans: tuple[Span, ...]
    encoding: textfiles.Encoding

    def data(self) -> bytes:
        """The file's bytes after the edit."""
        return textfiles.encoded(replaced(self.text, self.spans), self.encoding)

    def line_of(self, place: int) -> int:
        """The line that a place of the text before is in, from 1."""
        return self.text.count("\n", 0, place) + 1

    def difference(self, name: str, context: int = 3) -> Difference:
        """The change as a unified diff."""
        return difference_of(self.text, self.spans, name, context)


def file_at(workspace: Workspace, path: str) -> Found:
    """The file as it is; BadArguments where there is none, or one too large to edit."""
    try:
        with paths.located(workspace.ground, path) as place:
            key = place.key
            descriptor = place.open(os.O_RDONLY)
    except paths.PathRefused as refused:
        if refused.kind != "missing":
            raise
        raise paths.PathRefused(
            "missing", f"{path!r} does not exist; write_file makes a new file"
        ) from None
    try:
        info = os.fstat(descriptor)
        data = writing.read_bytes(descriptor, MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    check_size(path, data)
    return Found(key, data, digest_of(data), info)


def check_size(path: str, data: bytes) -> None:
    """Raises BadArguments where these are more bytes than an edit may read."""
    if len(data) > MAX_BYTES:
        raise BadArguments(f"path: {path!r} is over {MAX_BYTES} bytes; edit it with a command")


def check_as_seen(workspace: Workspace, path: str, found: Found, *, needs_read: bool) -> None:
    """Raises BadArguments where the workstream saw other bytes (F33), or none and must have."""
    known = workspace.seen.get(found.path)
    if known is None:
        if needs_read:
            raise BadArguments(
                f"path: {path!r} was not read yet in this workstream; read it, then edit it"
            )
        return
    if not still_is(known, found.sha256, found.info):
        raise BadArguments(
            f"path: {path!r} changed on disk since it was last read here; read it again, then send "
            "the edit anew"
        )


def change_of(found: Found, arguments: Mapping[str, Any], options: Mapping[str, Any]) -> EditChange:
    """What these arguments change in the file, whole; BadArguments says what does not fit (T-25,
    F16). `options` are those of edit_file.
    """
    edits = edits_of(arguments, refuse_blank=options.get("refuse_blank", False))
    path = arguments["path"]
    try:
        file = textfiles.decoded(found.data)
    except textfiles.NotText as other:
        raise BadArguments(
            f"path: {path!r} is no text but a {other.kind}; it cannot be edited"
        ) from None
    if file.encoding.bom:
        edits = tuple(_without_mark(edit) for edit in edits)
    first = body_start(found.path, file.text) if options.get("keep_frontmatter", False) else 0
    loosely = options.get("matching", "tolerant") == "tolerant"
    spans = located_edits(file.text, edits, loosely=loosely, first=first)
    try:
        for span in spans:
            textfiles.encoded(span.new, file.encoding)
    except UnicodeEncodeError as error:
        raise BadArguments(
            f"new_string: {error.object[error.start]!r} cannot be written in the file's encoding, "
            f"{file.encoding.name}; leave it out or write the whole file anew"
        ) from None
    return EditChange(found, file.text, spans, file.encoding)


def _without_mark(edit: Edit) -> Edit:
    """The mark at the file's beginning is no part of its text, also where a model copied it."""
    return msgspec.structs.replace(
        edit, old=edit.old.removeprefix(_MARK), new=edit.new.removeprefix(_MARK)
    )
