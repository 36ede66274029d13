"""Keeps what a shell knows at a place of a line: folder, variables, functions, files it wrote."""

import posixpath
from collections.abc import Iterable

from redshank_node.tools.support.danger.words import (
    HOME,
    KNOWN,
    MAYBE_EMPTY,
    SOMETHING,
    Item,
    is_unknown,
    literal,
)

_DECLARE = frozenset({"export", "declare", "local", "readonly", "typeset"})
_READ = frozenset({"read", "mapfile", "readarray", "getopts"})
_READ_VALUES = "dinNptuCcOs"
_FOLDERS = frozenset({"cd", "pushd", "popd"})
_MOST_WRITTEN = 200_000


class Scope:
    """What a shell knows. `files` are one for all shells of a line."""

    def __init__(self) -> None:
        self.folder = ""
        self.variables = dict(KNOWN)
        self.functions: dict[str, tuple[Item, ...]] = {}
        self.files: dict[str, str] = {}

    def inner(self, positional: Iterable[str] = ()) -> "Scope":
        """A shell below this one, with its own `$0`, `$1` and so on."""
        scope = Scope()
        scope.folder = self.folder
        scope.variables = dict(self.variables)
        scope.functions = dict(self.functions)
        scope.files = self.files
        given = tuple(literal(word) for word in positional)
        if given:
            scope._set_positional(given[1:], given[0])
        return scope

    def assign(self, words: Iterable[str]) -> None:
        """Take over what stands as NAME=VALUE; a name that comes twice can be either."""
        given: dict[str, list[str]] = {}
        for word in words:
            name, equals, value = literal(word).partition("=")
            if equals:
                value = HOME + value[1:] if value.startswith("~") else value
                # What the line itself gives a value is not simply unset.
                given.setdefault(name.rstrip("+"), []).append(value.replace(MAYBE_EMPTY, SOMETHING))
        self.variables.update({name: tuple(values) for name, values in given.items()})

    def write(self, path: str, text: str | None, *, more: bool) -> None:
        """Remember what is in a file now, None for what nobody can tell."""
        name = posixpath.normpath(posixpath.join(self.folder, literal(path)))
        before = self.files.get(name, "") if more else ""
        if text is not None and len(before) + len(text) <= _MOST_WRITTEN:
            self.files[name] = before + text
        elif not more:
            self.files.pop(name, None)

    def changed_by(self, words: list[str], stdin: str | None) -> bool:
        """Whether this is a command that changes the shell itself; then it is done."""
        name = words[0]
        if name in _FOLDERS:
            self._enter(words)
        elif name in _DECLARE:
            self.assign(words[1:])
        elif name in _READ:
            self._read(words, stdin)
        elif name == "printf" and words[1:2] == ["-v"]:
            self.assign([f"{literal(''.join(words[2:3]))}={''.join(words[-1:])}"])
        elif name == "shift":
            self._shift(words[1] if words[1:] and words[1].isdigit() else "1")
        elif name == "set" and "--" in words:
            self._set_positional(tuple(map(literal, words[words.index("--") + 1 :])))
        else:
            return False
        return True

    def _enter(self, words: list[str]) -> None:
        operands = [word for word in words[1:] if not word.startswith("-") or word == "-"]
        target = operands[0] if operands else HOME
        if words[0] == "popd" or target == "-" or is_unknown(target):
            self.folder = SOMETHING
        elif target.startswith("/"):
            self.folder = posixpath.normpath(target)
        elif self.folder:
            self.folder = posixpath.normpath(posixpath.join(self.folder, target))
        self.variables["PWD"] = (self.folder or SOMETHING,)

    def _read(self, words: list[str], stdin: str | None) -> None:
        names: list[str] = []
        rest = list(words[1:])
        while rest:
            word = rest.pop(0)
            if not word.startswith("-"):
                names.append(word)
            elif rest and word[-1] in _READ_VALUES:
                rest.pop(0)
        lines = tuple(line.strip() for line in (stdin or "").split("\n") if line.strip())
        values = lines if len(names) == 1 and lines else (SOMETHING,)
        self.variables.update(dict.fromkeys(names, values))

    def _shift(self, count: str) -> None:
        given = self.variables.get("@")
        if given is not None:
            self._set_positional(given[int(count[:4]) :])

    def _set_positional(self, given: tuple[str, ...], zero: str | None = None) -> None:
        for name in [name for name in self.variables if name.isdigit() and name != "0"]:
            del self.variables[name]
        if zero is not None:
            self.variables["0"] = (zero,)
        self.variables.update({str(number): (word,) for number, word in enumerate(given, 1)})
        self.variables["@"] = self.variables["*"] = given
