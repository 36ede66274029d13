"""What a command about to run is judged by, what a judgement of it can be."""

import posixpath
from collections.abc import Iterator, Mapping

import msgspec

from redshank_node.tools.support.danger.targets import is_disk, is_everything, unguarded
from redshank_node.tools.support.danger.words import literal

ENCODED_RUNS = "runs encoded text, which nobody can read before; write it plainly"
STOPS = "stops the machine"


class Called(msgspec.Struct, frozen=True):
    """A command about to run. `words` still tell quoted characters from others; `path` is its name
    as written; `stdin` is what it reads, where that can be told; `files` what the line has written
    into files.
    """

    words: tuple[str, ...]
    folder: str = ""
    path: str = ""
    stdin: str | None = None
    files: Mapping[str, str] = {}

    def file(self, word: str) -> str | None:
        """What the line itself has written into this file."""
        return self.files.get(posixpath.normpath(posixpath.join(self.folder, literal(word))))


class Script(msgspec.Struct, frozen=True):
    """A line that the command has run, with the words that follow it as `$0`, `$1` and so on."""

    text: str
    positional: tuple[str, ...] = ()


class Argv(msgspec.Struct, frozen=True):
    """Words that the command runs as a command, with what that reads."""

    words: tuple[str, ...]
    stdin: str | None = None


Finding = str | Script | Argv


def split(words: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Options and operands, wherever they stand; all behind `--` are operands."""
    options: list[str] = []
    operands: list[str] = []
    for place, word in enumerate(words):
        if word == "--":
            return options, operands + list(words[place + 1 :])
        (options if word.startswith("-") and len(word) > 1 else operands).append(word)
    return options, operands


def has(options: list[str], letters: str, long: str) -> bool:
    """Whether one of the options is this one, short among others or long, cut short or not."""
    return any(
        len(option) > 3 and long.startswith(option)
        if option.startswith("--")
        else any(letter in option for letter in letters)
        for option in options
    )


def loses(operands: list[str], folder: str, does: str) -> Iterator[str]:
    """What is said of each operand that is a whole system folder or home."""
    for operand in operands:
        meant = is_everything(operand, folder)
        if meant and unguarded(operand):
            yield f"{does} {meant} if a variable in it is unset; write ${{NAME:?}} there"
        elif meant:
            yield f"{does} {meant}, a whole system or home folder"


def onto_disk(paths: list[str]) -> Iterator[str]:
    """What is said where one of the paths is a disk."""
    if any(is_disk(path) for path in paths):
        yield "writes onto a disk"
