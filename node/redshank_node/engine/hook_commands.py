"""Asks a hook that is a command: the question on its standard input, the answer on its output."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from redshank_node.engine.hook_asking import MOST_ANSWER_BYTES, HookFailed
from redshank_node.tools.support.commands.environment import scrubbed
from redshank_node.tools.support.commands.processes import Command, Ended, run_command
from redshank_shared.settings.environment import process_environment

_MARK = "[stderr] "
_SHOWN_CHARACTERS = 500
# Not the workspace: a name without its folder must not lead to a file that an agent wrote.
_FOLDER = Path("/")


async def ask_command(argv: tuple[str, ...], question: bytes, timeout_seconds: float) -> bytes:
    """What the command wrote to its standard output, at most 64 KiB; HookFailed where it ends with
    another code than 0, writes more, hangs or cannot be started.
    """
    with _readable(question) as stdin:
        command = Command(
            argv=argv,
            folder=_FOLDER,
            environment=scrubbed(process_environment()),
            timeout_seconds=timeout_seconds,
            max_output_bytes=MOST_ANSWER_BYTES,
            stdin=stdin,
            stop_when_full=True,
        )
        try:
            ended = await run_command(command, lambda _: None)
        except OSError as error:
            raise HookFailed(
                f"{argv[0]} cannot be started: {error.strerror}", final=True
            ) from error
    return _answer(ended, timeout_seconds)


def _answer(ended: Ended, timeout_seconds: float) -> bytes:
    text, _ = ended.output.text()
    lines = text.split("\n")
    beside = "\n".join(line.removeprefix(_MARK) for line in lines if line.startswith(_MARK))
    if ended.output.overflows():
        raise HookFailed(f"it wrote more than {MOST_ANSWER_BYTES} bytes")
    if ended.timed_out:
        raise HookFailed(f"it gave no answer within {timeout_seconds:.3g} s")
    if ended.code != 0:
        said = f": {beside.strip()[-_SHOWN_CHARACTERS:]}" if beside.strip() else ""
        raise HookFailed(f"it ended with code {ended.code}{said}")
    return "\n".join(line for line in lines if not line.startswith(_MARK)).encode()


@contextlib.contextmanager
def _readable(data: bytes) -> Iterator[int]:
    """A descriptor that gives these bytes, however slowly they are read."""
    descriptor = os.memfd_create("hook", os.MFD_CLOEXEC)
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(data)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)
