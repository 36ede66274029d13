"""Reads a text file with numbered lines."""

import asyncio
import io
import os
import threading
from collections.abc import Iterator
from typing import Any, BinaryIO

from redshank_node.tools.support import paths, schema, textfiles, truncate
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
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
            "description": "First line to read, counted from 1. Default 1.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "description": "Greatest number of lines to read. Default: all that fits.",
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}
_IN_PLACE_BYTES = 65536
_IMAGE_BYTES = 4 << 20
_LINE_CHARACTERS = 16384
_NOTICE_BYTES = 200


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments.

    A file that is not there yet is no error here, an earlier call may make it.
    """
    checked = schema.validated(arguments, _PARAMETERS)
    paths.check_beneath(workspace.root, checked["path"])
    return Prepared(checked, Preview(checked["path"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The lines as `number<TAB>text`, bounded; says how to go on where more follows (T-22)."""
    try:
        descriptor = paths.open_file(context.workspace.root, prepared.arguments["path"])
    except BadArguments as refused:
        return Result(str(refused), is_error=True, outcome="error")
    stop = threading.Event()
    with open(descriptor, "rb") as file:
        if os.fstat(descriptor).st_size <= _IN_PLACE_BYTES:
            return _read(file, prepared.arguments, context.max_output_bytes, stop)
        try:
            # The thread owns its own descriptor: this block may end before it does.
            own = open(os.dup(descriptor), "rb")  # noqa: SIM115 - closed by _read_own
            return await asyncio.to_thread(
                _read_own, own, prepared.arguments, context.max_output_bytes, stop
            )
        finally:
            stop.set()


def _read_own(
    file: BinaryIO, arguments: dict[str, Any], max_bytes: int, stop: threading.Event
) -> Result:
    with file:
        return _read(file, arguments, max_bytes, stop)


def _read(
    file: BinaryIO, arguments: dict[str, Any], max_bytes: int, stop: threading.Event
) -> Result:
    head = file.read(_IN_PLACE_BYTES)
    if not head:
        return Result("[the file is empty]")
    size = max(os.fstat(file.fileno()).st_size, len(head))
    try:
        encoding = textfiles.sniffed(head, whole=size <= len(head))
    except textfiles.NotText as other:
        return _described(arguments["path"], other.kind, head, size)
    file.seek(len(encoding.bom))
    text = io.TextIOWrapper(file, encoding.codec, errors="replace", newline="\n")
    try:
        return _window(_lines(text, stop), arguments, max_bytes)
    finally:
        text.detach()


def _described(path: str, kind: str, head: bytes, size: int) -> Result:
    if textfiles.image_kind(head) is None:
        return Result(
            f"path: {path!r} is no text but a {kind} of {size} bytes; use a program for it",
            is_error=True,
            outcome="error",
        )
    if size > _IMAGE_BYTES:
        return Result(
            f"path: {path!r} is a {kind} of {size} bytes; at most {_IMAGE_BYTES} are read",
            is_error=True,
            outcome="error",
        )
    return Result(f"[{path} is a {kind} of {size} bytes]")


def _lines(text: io.TextIOWrapper, stop: threading.Event) -> Iterator[str]:
    """Each line without its end; of a very long one only the beginning, with a mark."""
    while line := text.readline(_LINE_CHARACTERS):
        if stop.is_set():
            return
        if line.endswith("\n"):
            yield line[:-1].removesuffix("\r")
            continue
        rest = text.readline(_LINE_CHARACTERS)
        mark = " [... the line goes on ...]" if rest not in ("", "\n") else ""
        while rest and not rest.endswith("\n") and not stop.is_set():
            rest = text.readline(_LINE_CHARACTERS)
        yield line + mark


def _window(lines: Iterator[str], arguments: dict[str, Any], max_bytes: int) -> Result:
    offset, limit = arguments.get("offset", 1), arguments.get("limit")
    room = max(max_bytes - _NOTICE_BYTES, 0)
    shown: list[str] = []
    number = 0
    for number, line in enumerate(lines, 1):
        if number < offset:
            continue
        if limit is not None and len(shown) >= limit:
            return _stopped(shown, number, truncated=False)
        entry = f"{number:>6}\t{line}".replace("\x00", "\ufffd")
        room -= len(entry.encode(errors="replace")) + 1
        if room < 0 and shown:
            return _stopped(shown, number, truncated=True)
        shown.append(truncate.head_of(entry, max_bytes) if room < 0 else entry)
    if not shown:
        return Result(
            f"offset: {offset} is past the end of the file, which has {number} line(s)",
            is_error=True,
            outcome="error",
        )
    return Result("\n".join(shown))


def _stopped(shown: list[str], following: int, *, truncated: bool) -> Result:
    why = "the result is full" if truncated else "more lines follow"
    shown.append(f"[{why}; go on with offset={following}]")
    return Result("\n".join(shown), truncated=truncated)


TOOL = Tool(
    name="read_file",
    description=(
        "Read a text file of the workspace. Each line comes with its number. "
        "Long files come in parts: go on with offset."
    ),
    parameters=_PARAMETERS,
    effect="read",
    prepare=prepare,
    run=run,
    primary_key="path",
    parallel=True,
    plan=True,
    aliases=("read",),
)
