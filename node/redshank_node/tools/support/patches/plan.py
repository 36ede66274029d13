"""What a patch does to the files of a workspace as they are now."""

import contextlib
import posixpath
from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from redshank_node.tools.support.edits.change import MAX_BYTES, check_as_seen, file_at
from redshank_node.tools.support.edits.change import Found as FoundFile
from redshank_node.tools.support.files import paths, textfiles, writing
from redshank_node.tools.support.files.diffs import hunks_of, told
from redshank_node.tools.support.patches.parts import FilePatch
from redshank_node.tools.support.patches.placing import patched
from redshank_node.tools.tool import BadArguments, Workspace
from redshank_shared.domain.events import Preview
from redshank_shared.domain.roots import key_of


class FileChange(msgspec.Struct, frozen=True):
    """One file's change. `path` is as the patch names it, `relative` its key with all links
    resolved; `before`, `after` are its texts, None where there is no such file; `data` the bytes
    after; `sha256` of the bytes before, `none` for a new file; `move_to` where it goes, with
    `moved` as its key; `executable` whether it can be run then, None for as it is.
    """

    action: Literal["add", "update", "delete"]
    path: str
    relative: str
    sha256: str
    before: str | None = None
    after: str | None = None
    data: bytes = b""
    move_to: str = ""
    moved: str = ""
    executable: bool | None = None


def planned(workspace: Workspace, files: tuple[FilePatch, ...]) -> tuple[FileChange, ...]:
    """All changes, each validated; BadArguments where one of them does not fit, so that none is
    made (K12). Files that are no UTF-8 text are refused, new files where there are some already.
    """
    changes = tuple(_change(workspace, _meant(workspace, file)) for file in files)
    targets: dict[str, str] = {}
    for change in changes:
        for relative in {change.relative, change.moved} - {""}:
            other = targets.setdefault(relative, change.path)
            if other != change.path:
                raise BadArguments(
                    f"patch: {other} and {change.path} are about the same file, {relative}; say "
                    "all that happens to it once"
                )
    return changes


def preview_of(changes: tuple[FileChange, ...]) -> Preview:
    """All that the patch does, whole."""
    bodies: list[str] = []
    added = removed = 0
    for change in changes:
        name = change.path
        hunks = hunks_of(change.before or "", change.after or "")
        shown = told(hunks, name, len(hunks))
        note = {"add": f"new file {name}", "delete": f"delete {name}"}.get(change.action, "")
        note = f"move {name} to {change.move_to}" if change.move_to else note
        if change.executable is not None:
            mode = "can be run" if change.executable else "cannot be run"
            note = "\n".join(filter(None, (note, f"{change.move_to or name} {mode} then")))
        bodies.append("\n".join(part for part in (note, shown.body) if part))
        added, removed = added + shown.added, removed + shown.removed
    count = len(changes)
    title = (
        changes[0].path
        if count == 1
        else f"{count} files: " + ", ".join(change.path for change in changes[:8])
    )
    return Preview(title, "diff", "\n".join(bodies), added, removed)


def digests_of(changes: tuple[FileChange, ...]) -> Mapping[str, str]:
    """What each file was when it was looked at, by its key."""
    bases = {change.relative: change.sha256 for change in changes}
    return bases | {change.moved: writing.NONE for change in changes if change.moved}


def _change(workspace: Workspace, file: FilePatch) -> FileChange:
    with _named(file.path):
        for path in filter(None, (file.path, file.move_to)):
            paths.check_writable(workspace.ground, path)
        if file.action == "add":
            relative = _free(workspace, file.path)
            data = _utf8(file.path, file.content)
            change = FileChange("add", file.path, relative, writing.NONE, None, file.content, data)
            return msgspec.structs.replace(change, executable=file.executable)
        found = file_at(workspace, file.path)
        if file.action == "delete" or file.move_to:
            _check_no_link(workspace, file.path)
        check_as_seen(workspace, file.path, found, needs_read=False)
        if file.action == "delete" and not file.hunks:
            before = _text(file.path, found.data).text
            return FileChange("delete", file.path, found.path, found.sha256, before)
        return _updated(workspace, file, found)


def _updated(workspace: Workspace, file: FilePatch, found: FoundFile) -> FileChange:
    text = _text(file.path, found.data)
    hunks = file.hunks
    if text.encoding.bom:
        hunks = tuple(hunk.without_mark() for hunk in hunks)
    after = patched(text.text, hunks)
    if file.action == "delete":
        if after:
            raise BadArguments("the patch deletes the file but leaves lines in it; read it again")
        return FileChange("delete", file.path, found.path, found.sha256, text.text)
    if after == text.text and not file.move_to and file.executable is None:
        raise BadArguments("nothing would change")
    moved = _free(workspace, file.move_to) if file.move_to else ""
    data = text.encoding.bom + _utf8(file.path, after)
    if len(data) > MAX_BYTES:
        raise BadArguments(f"over {MAX_BYTES} bytes would be in it")
    return FileChange(
        "update",
        file.path,
        found.path,
        found.sha256,
        text.text,
        after,
        data,
        file.move_to,
        moved,
        file.executable,
    )


def _meant(workspace: Workspace, file: FilePatch) -> FilePatch:
    """The patch of the file that it can only be about, where its names are written otherwise: the
    new one of two, one without a version's letter in front, from the root of all; a move to where
    the file is already.
    """
    if file.move_to and posixpath.normpath(file.move_to) == posixpath.normpath(file.path):
        file = msgspec.structs.replace(file, move_to="")
    if file.action == "add":
        return file
    if file.either and _is_there(workspace, file.move_to):
        return msgspec.structs.replace(file, path=file.move_to, move_to="")
    others = [f"/{file.path}", *([file.path[2:]] if file.path[:2] in ("a/", "b/") else [])]
    if not _is_there(workspace, file.path):
        for other in others:
            if _is_there(workspace, other):
                return msgspec.structs.replace(file, path=other)
    return file


def _is_there(workspace: Workspace, path: str) -> bool:
    try:
        with paths.located(workspace.ground, path) as place:
            return place.info is not None
    except paths.PathRefused:
        return False


def _check_no_link(workspace: Workspace, path: str) -> None:
    with paths.located(workspace.ground, path) as place:
        if place.by_link:
            raise BadArguments(
                f"path: {path!r} is a link to {place.key}; name that file, or take the link away "
                "with a command"
            )


@contextlib.contextmanager
def _named(path: str) -> Iterator[None]:
    """What is refused inside says of which file it is."""
    try:
        yield
    except BadArguments as refused:
        said = str(refused)
        raise BadArguments(said if path in said else f"patch: {path}: {said}") from None


def _free(workspace: Workspace, path: str) -> str:
    """The key of a path at which nothing is yet."""
    try:
        with paths.located(workspace.ground, path) as place:
            if place.info is not None:
                raise BadArguments(
                    f"path: {path!r} exists already; update it, or delete it in a patch before"
                )
            writing.check_new(place, None)
            return place.key
    except paths.PathRefused as refused:
        if refused.kind != "missing":
            raise
    return key_of(workspace.ground, path)


def _text(path: str, data: bytes) -> textfiles.TextFile:
    try:
        text = textfiles.decoded(data)
    except textfiles.NotText as other:
        raise BadArguments(
            f"path: {path!r} is no text but a {other.kind}; it cannot be patched"
        ) from None
    if text.encoding.codec != "utf-8":
        raise BadArguments(
            f"path: {path!r} is {text.encoding.name}, a patch changes UTF-8 alone; use edit_file"
        )
    return text


def _utf8(path: str, text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadArguments(
            f"patch: {path!r} would hold half a character; send whole characters"
        ) from None
