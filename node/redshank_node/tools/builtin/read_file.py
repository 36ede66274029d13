"""Reads a text file with numbered lines, shows an image."""

import asyncio
import os
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

import msgspec

from redshank_node.tools.support import schema
from redshank_node.tools.support.files import line_windows, paths, textfiles
from redshank_node.tools.support.files.file_digests import seen_file, with_seen
from redshank_node.tools.support.media import image_sizes
from redshank_node.tools.support.media.whole_images import MOST_PIXELS, is_whole
from redshank_node.tools.support.outlines import outline
from redshank_node.tools.support.outlines.section import lines_of
from redshank_node.tools.tool import (
    BadArguments,
    CallContext,
    ImagePart,
    Prepared,
    Result,
    Tool,
    Workspace,
)
from redshank_shared.domain.events import Preview

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "File to read, relative to the workspace.",
        },
        "offset": {
            "type": "integer",
            "minimum": 1,
            "description": "First line to read, counted from 1. Default 1. Text files only.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "description": "Greatest number of lines to read. Default: all that fits.",
        },
        "raw": {
            "type": "boolean",
            "description": "Show the lines even where an outline would stand in their place.",
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}
_OPTIONS: dict[str, Any] = {
    "outline": {
        "type": "boolean",
        "description": "Show the sections of a large file instead of its lines (C-19).",
    },
    "max_text_bytes": {
        "type": "integer",
        "minimum": 1,
        "description": "Refuse text files that are larger (C-18).",
    },
}
_IN_PLACE_BYTES = 65536
_IMAGE_BYTES = 4 << 20
_OUTLINED_BYTES = 4 << 20


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments.

    A file that is not there yet is no error here, an earlier call may make it.
    """
    checked = schema.validated(arguments, _PARAMETERS)
    paths.check_beneath(workspace.ground, checked["path"])
    return Prepared(checked, Preview(checked["path"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The lines as `number<TAB>text`, bounded; says how to go on where more follows (T-22)."""
    try:
        with paths.located(context.workspace.ground, prepared.arguments["path"]) as place:
            descriptor, key = place.open(os.O_RDONLY), place.key
    except BadArguments as refused:
        return _error(str(refused))
    stop = threading.Event()
    with open(descriptor, "rb") as file:
        # Before it is read: what changes meanwhile is not what an edit may build on (F33).
        seen = seen_file(key, descriptor)
        if os.fstat(descriptor).st_size <= _IN_PLACE_BYTES:
            return with_seen(_read(file, prepared.arguments, context, stop), seen)
        try:
            # The thread owns its own descriptor: this block may end before it does.
            own = open(os.dup(descriptor), "rb")  # noqa: SIM115 - closed by _read_own
            result = await asyncio.to_thread(_read_own, own, prepared.arguments, context, stop)
            return with_seen(result, seen)
        finally:
            stop.set()


def _read_own(
    file: BinaryIO, arguments: dict[str, Any], context: CallContext, stop: threading.Event
) -> Result:
    with file:
        return _read(file, arguments, context, stop)


def _read(
    file: BinaryIO, arguments: dict[str, Any], context: CallContext, stop: threading.Event
) -> Result:
    path, options = arguments["path"], context.workspace.options
    try:
        head = file.read(_IN_PLACE_BYTES)
        size = max(os.fstat(file.fileno()).st_size, len(head))
        if not head:
            return Result("[the file is empty]")
        encoding = textfiles.sniffed(head, whole=size <= len(head))
        most = options.get("max_text_bytes", size)
        if size > most:
            return _error(
                f"path: {path!r} has {size} bytes, text files of at most {most} are read; "
                "extract the part that you need into a file of its own, then read that"
            )
        if _is_asked_for_whole(arguments) and size <= _OUTLINED_BYTES:
            shown = _whole(path, arguments.get("raw", False), options, file, head)
            if shown is not None:
                return shown
        return _window(file, encoding, arguments, context.max_output_bytes, stop)
    except textfiles.NotText as other:
        return _described(path, other.kind, head, file, size)
    except OSError as error:
        return _error(f"path: {path!r} cannot be read: {error.strerror}")


def _is_asked_for_whole(arguments: Mapping[str, Any]) -> bool:
    """A window that was asked for is shown as it is."""
    return "offset" not in arguments and "limit" not in arguments


def _whole(
    path: str, raw: bool, options: Mapping[str, Any], file: BinaryIO, head: bytes
) -> Result | None:
    """The outline of a large file, else all of its lines where the profile bounds the file in
    place of what is shown of it (C-19); None where it does neither.
    """
    outlines = options.get("outline", False) and not raw
    shows_all = "max_text_bytes" in options
    if not outlines and not shows_all:
        return None
    text = textfiles.decoded(head + file.read()).text
    sections = outline.outlined(path, text) if outlines else ()
    if sections:
        shown = {"outline": outline.described(path, text, sections)}
        return Result(msgspec.json.encode(shown).decode())
    return Result("\n".join(line_windows.numbered(lines_of(text)))) if shows_all else None


def _window(
    file: BinaryIO,
    encoding: textfiles.Encoding,
    arguments: dict[str, Any],
    max_bytes: int,
    stop: threading.Event,
) -> Result:
    offset = arguments.get("offset", 1)
    try:
        found = line_windows.window(file, encoding, offset, arguments.get("limit"), max_bytes, stop)
    except line_windows.PastTheEnd as past:
        return _error(
            f"offset: {offset} is past the end of the file, which has {past.lines} line(s)"
        )
    if not found.following:
        return Result("\n".join(found.lines))
    why = "the result is full" if found.full else "more lines follow"
    notice = f"[{why}; go on with offset={found.following}]"
    return Result("\n".join([*found.lines, notice]), truncated=found.full)


def _described(path: str, kind: str, head: bytes, file: BinaryIO, size: int) -> Result:
    """An image goes to a model that sees; one that does not reads what it is (T-22)."""
    form = textfiles.image_kind(head)
    if form is None:
        return _error(
            f"path: {path!r} is no text but a {kind} of {size} bytes; use a program for it"
        )
    body = head + file.read(_IMAGE_BYTES + 1 - len(head)) if size <= _IMAGE_BYTES else head
    if max(size, len(body)) > _IMAGE_BYTES:
        return _error(
            f"path: {path!r} is a {kind} of {size} bytes; at most {_IMAGE_BYTES} are read"
        )
    pixels = image_sizes.pixels(form, body)
    said = f"{path} is a {kind} of {len(body)} bytes"
    if pixels is None or not is_whole(form, body):
        # A server that refuses a damaged image would refuse every further question with it.
        return Result(f"[{said}; it is damaged, so it cannot be shown]")
    said = f"{said}, {pixels[0]} x {pixels[1]} pixels"
    if max(pixels) > MOST_PIXELS:
        return Result(f"[{said}; it is too wide or high to be shown, make it smaller first]")
    return Result(f"[{said}]", images=(ImagePart(image_sizes.MEDIA_TYPES[form], body),))


def _error(message: str) -> Result:
    return Result(message, is_error=True, outcome="error")


TOOL = Tool(
    name="read_file",
    description=(
        "Read a text file of the workspace. Each line comes with its number. "
        "Long files come in parts: go on with offset. Images are shown if you can see them."
    ),
    parameters=_PARAMETERS,
    effect="read",
    prepare=prepare,
    run=run,
    cwd_note="A relative path starts at {working_dir}.",
    primary_key="path",
    parallel=True,
    plan=True,
    aliases=("read",),
    options=_OPTIONS,
)
