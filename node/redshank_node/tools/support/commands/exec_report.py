"""Tells a model how a program ended: its output inline, or in files with a preview of each."""

import errno
import pathlib
import re
from typing import Any

from redshank_node.tools.support.commands.exec_streams import MOST_KEPT_BYTES, SeparateStreams
from redshank_node.tools.support.commands.output import Stream
from redshank_node.tools.support.files.paths import located
from redshank_node.tools.support.files.writing import replace_file
from redshank_node.tools.tool import BadArguments
from redshank_shared.domain.roots import WORKSPACE, Ground, Roots
from redshank_shared.profiles.exec_options import ExecOptions

_STREAMS: tuple[tuple[Stream, str], ...] = (("stdout", ".out"), ("stderr", ".err"))
_MOST_SEQUENCE = 999


def reported(
    output: SeparateStreams,
    options: ExecOptions,
    ground: Ground,
    stem: str,
) -> dict[str, Any]:
    """The lengths in bytes with what C-14 to C-17 say of the output; writes files where it must.

    `stem`: the beginning of their names, a sequence number and the command's name follow it.
    """
    report: dict[str, Any] = {f"{stream}Length": output.length(stream) for stream, _ in _STREAMS}
    total = sum(report.values())
    if options.inline and total <= options.inline_threshold_bytes:
        texts: dict[str, str] = {stream: _text(output, stream) for stream, _ in _STREAMS}
        return {**report, "inline": True, **texts, "truncated": False}
    try:
        return {**report, "inline": False, **_spilled(output, options, ground, stem)}
    except (OSError, BadArguments):
        return {**report, **_fallback(output, options)}


def stem_of(at: str, command: str) -> tuple[str, str]:
    """The parts of a file's name before and after its number, from RFC 3339 and the command."""
    return re.sub(r"[:.]", "-", at), re.sub(r"[^A-Za-z0-9_-]", "_", command)[:32]


def preview(text: str, total_bytes: int, key: str, options: ExecOptions) -> tuple[str, bool]:
    """The first lines, the last ones, a marker between that says what is left out and where it is;
    whether anything was dropped. Each line is cut where it is too long (C-16).
    """
    lines = text.splitlines()
    head, tail = options.preview_head, options.preview_tail
    longest = options.max_preview_line_length
    if len(lines) <= head + tail:
        shown = [_cut(line, longest) for line in lines]
        return "\n".join(shown), shown != lines
    first = [_cut(line, longest) for line in lines[:head]]
    last = [_cut(line, longest) for line in lines[len(lines) - tail :]]
    left = len(lines) - head - tail
    where = f"; all of it is in {key}" if key else ""
    marker = f"[... {left} of {len(lines)} lines left out, {total_bytes} bytes in all{where} ...]"
    return "\n".join((*first, marker, *last)), True


def _spilled(
    output: SeparateStreams, options: ExecOptions, ground: Ground, stem: str
) -> dict[str, Any]:
    folder = _folder(options.output_dir, ground)
    name = _free(ground, folder, stem)
    report: dict[str, Any] = {}
    for stream, ending in _STREAMS:
        length = output.length(stream)
        if not length:
            continue
        path = f"{folder}/{name}{ending}"
        replace_file(ground, path, output.kept(stream))
        report[f"{stream}Path"] = path
        shown, _ = preview(_text(output, stream), length, f"{stream}Path", options)
        report[f"{stream}Preview"] = shown
        if length > MOST_KEPT_BYTES:
            report[f"{stream}Dropped"] = length - MOST_KEPT_BYTES
    return {**report, "truncated": True}


def _fallback(output: SeparateStreams, options: ExecOptions) -> dict[str, Any]:
    report: dict[str, Any] = {"inline": True, "fallbackInline": True}
    dropped = False
    for stream, _ in _STREAMS:
        length = output.length(stream)
        shown, cut = preview(_text(output, stream), length, "", options)
        report[stream] = shown
        dropped = dropped or cut or length > MOST_KEPT_BYTES
    return {**report, "truncated": dropped}


def _folder(output_dir: str, ground: Ground) -> str:
    """The folder of the option, seen from the workspace, which the option calls /workspace."""
    if output_dir == WORKSPACE or output_dir.startswith(f"{WORKSPACE}/"):
        return output_dir[len(WORKSPACE) :].strip("/") or "."
    if output_dir.startswith("/"):
        if isinstance(ground, Roots):
            return output_dir.rstrip("/")
        try:
            return str(pathlib.PurePath(output_dir).relative_to(ground))
        except ValueError:
            raise OSError(errno.EACCES, "outside of the workspace", output_dir) from None
    return output_dir.strip("/") or "."


def _free(ground: Ground, folder: str, stem: str) -> str:
    before, _, after = stem.partition("\0")
    for number in range(1, _MOST_SEQUENCE + 1):
        name = f"{before}-{number:03}-{after}"
        if not any(_is_there(ground, f"{folder}/{name}{ending}") for _, ending in _STREAMS):
            return name
    raise OSError(errno.EEXIST, "every number of this moment is taken", folder)


def _is_there(ground: Ground, path: str) -> bool:
    with located(ground, path, make_folders=True) as place:
        return place.info is not None


def _text(output: SeparateStreams, stream: Stream) -> str:
    return output.kept(stream).decode(errors="replace").replace("\0", "\ufffd")


def _cut(line: str, longest: int) -> str:
    if len(line) <= longest:
        return line
    return f"{line[:longest]}[... {len(line) - longest} more characters]"
