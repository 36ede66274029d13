"""A child's log file: what is new in it, its end, its size kept in bounds."""

import shutil
from pathlib import Path

import msgspec

LARGEST_BYTES = 10 * 1024 * 1024
KEPT = 3
MOST_READ_BYTES = 1024 * 1024
TOLD_LEVELS = ("warning", "error", "critical")


class _Line(msgspec.Struct, frozen=True):
    level: str = ""
    event: str = ""


class ChildLog:
    """The log of one child. Read from where it ends when it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch(mode=0o600)
        self._read_to = path.stat().st_size
        self._told = ""

    def warnings(self) -> list[str]:
        """The warnings, errors that came since the last call, as lines for a reader; one that comes
        again and again, with nothing else between, once.
        """
        told = []
        for line in self._new_lines():
            if not line.startswith(b"{"):
                continue
            try:
                entry = msgspec.json.decode(line, type=_Line)
            except msgspec.DecodeError:
                continue
            says = f"{entry.level}: {entry.event}" if entry.level in TOLD_LEVELS else ""
            if says and says != self._told:
                told.append(says)
            self._told = says
        return told

    def end(self, lines: int) -> str:
        """The last lines of the log."""
        with self.path.open("rb") as file:
            file.seek(max(0, self.path.stat().st_size - 64 * 1024))
            return b"\n".join(file.read().splitlines()[-lines:]).decode(errors="replace")

    def rotate(self) -> None:
        """Move a log that is too large aside, keeping the last few.

        The file itself stays: the child goes on writing at its end, which is then its beginning.
        """
        if self.path.stat().st_size <= LARGEST_BYTES:
            return
        for age in range(KEPT - 1, 0, -1):
            older = self.path.with_suffix(f".log.{age}")
            if older.exists():
                older.replace(self.path.with_suffix(f".log.{age + 1}"))
        shutil.copyfile(self.path, self.path.with_suffix(".log.1"))
        with self.path.open("r+b") as file:
            file.truncate(0)
        self._read_to = 0

    def _new_lines(self) -> list[bytes]:
        with self.path.open("rb") as file:
            file.seek(self._read_to)
            new = file.read(MOST_READ_BYTES)
        whole, newline, _ = new.rpartition(b"\n")
        if not newline and len(new) == MOST_READ_BYTES:
            whole, newline = new, b""
        self._read_to += len(whole) + len(newline)
        return whole.splitlines()
