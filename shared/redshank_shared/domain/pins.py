"""The files that stand in every prompt of a workstream, folded from its facts."""

import posixpath
from collections.abc import Iterator

import msgspec

from redshank_shared.domain.pin_events import FilePinned, FileUnpinned
from redshank_shared.domain.seen_files import SeenFile


class Pin(msgspec.Struct, frozen=True):
    """How a file is shown: `sections` are the active ones by id, `whole` says all of it."""

    sections: tuple[str, ...] = ()
    whole: bool = False


class Pins(msgspec.Struct, frozen=True):
    """`files` by path, in the order in which they were pinned; `gone` are those that were unpinned
    because they had vanished, until the model has been told.
    """

    files: dict[str, Pin] = {}
    gone: tuple[str, ...] = ()


def repinned(pins: Pins, fact: FilePinned | FileUnpinned) -> Pins:
    """The pins after this fact."""
    if isinstance(fact, FilePinned):
        files = {**pins.files, fact.path: Pin(fact.sections, fact.whole)}
        return Pins(files, tuple(path for path in pins.gone if path != fact.path))
    files = {path: pin for path, pin in pins.files.items() if path != fact.path}
    gone = (*pins.gone, fact.path) if fact.gone and fact.path in pins.files else pins.gone
    return Pins(files, gone)


def told(pins: Pins) -> Pins:
    """The pins once the model has answered: it knows now which files have vanished."""
    return Pins(pins.files) if pins.gone else pins


def rewritten(pins: Pins, arguments: str, written: tuple[SeenFile, ...] = ()) -> Pins:
    """The pins after a write with these arguments (JSON text): a file that it names has no active
    sections any more, since their ids may mean something else now (C24). `written`: the files that
    the call left, if it says so.
    """
    if not any(pin.sections for pin in pins.files.values()):
        return pins
    named = {*_paths(arguments), *(file.path for file in written)}
    files = {
        path: msgspec.structs.replace(pin, sections=())
        if _is_named(path, named, surely=bool(written))
        else pin
        for path, pin in pins.files.items()
    }
    return Pins(files, pins.gone)


def _is_named(path: str, named: set[str], *, surely: bool) -> bool:
    """An absolute path names the file below whatever root, where nothing says which file it was: a
    doubtful hit only hides sections.
    """
    return path in named or not surely and any(other.endswith(f"/{path}") for other in named)


def _paths(arguments: str) -> Iterator[str]:
    try:
        values = msgspec.json.decode(arguments, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError):
        return
    for value in values.values():
        if isinstance(value, str):
            yield posixpath.normpath(value.strip())
            if "\n" in value:
                yield from _in_patch(value)


def _in_patch(text: str) -> Iterator[str]:
    """The files that a patch names in its headers, whichever form it has."""
    for line in text.splitlines():
        for head in ("*** Update File: ", "*** Delete File: ", "*** Move to: ", "--- ", "+++ "):
            if line.startswith(head):
                name = line[len(head) :].split("\t")[0].strip()
                yield posixpath.normpath(name)
                yield posixpath.normpath(name.partition("/")[2])
