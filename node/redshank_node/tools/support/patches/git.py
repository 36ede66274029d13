"""Reads what git says of a file beside its lines: names, renames, modes."""

import re

from redshank_node.tools.support.patches.parts import FilePatch, malformed

_NAMES = re.compile(r'diff --git ("(?:[^"\\]|\\.)*"|\S.*?) ("(?:[^"\\]|\\.)*"|\S.*)')
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|.)", re.DOTALL)
_LETTERS = dict(zip(b"abfnrtv", b"\a\b\f\n\r\t\v", strict=True))
_BESIDE = ("index ", "similarity index", "dissimilarity index", "Index: ", "====")
_MODES = ("new file mode ", "deleted file mode ", "old mode ", "new mode ")
_BINARY = ("Binary files ", "GIT binary patch")
_PLAIN = {"100644": False, "100755": True, "100664": False, "100775": True}


class GitWords:
    """What was said of one file. `named`: git began it; `renames`: it goes to another name;
    `executable`: what its mode says, None where that stays.
    """

    def __init__(self) -> None:
        self.named = ""
        self._said: dict[str, str] = {}

    @property
    def renames(self) -> bool:
        """Whether git itself says that the file is renamed."""
        return "rename to " in self._said

    @property
    def executable(self) -> bool | None:
        """Whether the file can be run then; None where its mode stays as it is."""
        mode = self._said.get("new mode ") or self._said.get("new file mode ")
        return _PLAIN[mode] if mode else None

    def take(self, line: str, number: int) -> None:
        """Take over a line; BadArguments for what no text file becomes by a patch."""
        if not line.strip() or line.startswith(_BESIDE):
            return
        if line.startswith(("diff --cc ", "diff --combined ")):
            raise malformed("it is a diff of several parents; send one against the file", number)
        if line.startswith("diff "):
            self.named = line
            return
        if line.startswith(_BINARY):
            raise malformed("it changes what is no text; write such a file by a command", number)
        for words in (*_MODES, "rename from ", "rename to "):
            if line.startswith(words):
                self._said[words] = _value(words, line, number)
                return
        if line.startswith(("copy from ", "copy to ")):
            raise malformed("it copies a file; add the copy as a new file", number)
        raise malformed(
            f"{line[:80]!r} is not expected here: a file begins with --- and +++", number
        )

    def file(self, number: int) -> FilePatch:
        """The change of a file of which no line changes."""
        said = self._said
        if "rename from " in said and "rename to " in said:
            return FilePatch(
                "update",
                path_of(said["rename from "]),
                move_to=path_of(said["rename to "]),
                executable=self.executable,
            )
        names = _NAMES.fullmatch(self.named)
        path = path_of(names[2]).removeprefix("b/") if names else ""
        if path and "new file mode " in said:
            return FilePatch("add", path, executable=self.executable)
        if path and "deleted file mode " in said:
            return FilePatch("delete", path)
        if path and "new mode " in said:
            return FilePatch("update", path, executable=self.executable)
        raise malformed(f"{self.named[:80]!r} is followed by nothing that changes", number)


def path_of(named: str) -> str:
    """A path as a diff writes it: without a time behind a tab, in quotes where it must be."""
    path = named.split("\t", 1)[0].strip()
    if len(path) < 2 or not (path.startswith('"') and path.endswith('"')):
        return path
    try:
        return _ESCAPE.sub(_byte, path[1:-1].encode()).decode()
    except UnicodeError:
        raise malformed(f"{path[:80]} is no path in UTF-8") from None


def _byte(found: re.Match[bytes]) -> bytes:
    if found[1].isdigit():
        return bytes([int(found[1], 8) & 0xFF])
    return bytes([_LETTERS.get(found[1][0], found[1][0])]) + found[1][1:]


def _value(words: str, line: str, number: int) -> str:
    value = line[len(words) :].strip()
    if words in _MODES and value not in _PLAIN:
        raise malformed(f"mode {value[:20]} is of no plain file; make it by a command", number)
    return value
