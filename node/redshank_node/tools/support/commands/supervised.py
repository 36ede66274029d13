"""Puts a command behind its supervisor process, with the pipes between."""

import contextlib
import os
import pathlib
import sys

# Imported, not run as a script: so Python keeps its compiled form.
_SUPERVISOR = (
    f"import sys; sys.path.append({str(pathlib.Path(__file__).parent)!r}); "
    "import supervisor; supervisor.main(sys.argv)"
)
# Not by the virtual environment's link, which would be looked into at each start.
_PYTHON = os.path.realpath(sys.executable)


def supervised(
    argv: tuple[str, ...], control: int, status: int, grace_seconds: float, locale: str
) -> list[str]:
    """What to start in place of `argv`, see `supervisor.py`; `locale` is the command's own
    LC_CTYPE.
    """
    # UTF-8 mode carries any bytes of the command unchanged, whatever the locale (F35).
    python = [_PYTHON, "-I", "-S", "-X", "utf8", "-c", _SUPERVISOR]
    return [*python, str(control), str(status), str(int(grace_seconds * 1000)), locale, *argv]


def pipe(theirs: contextlib.ExitStack, *, read_is_theirs: bool) -> tuple[int, int]:
    """(their end, our end) of a new pipe; theirs is closed when the stack is."""
    read, write = os.pipe()
    mine, other = (write, read) if read_is_theirs else (read, write)
    theirs.callback(os.close, other)
    return other, mine
