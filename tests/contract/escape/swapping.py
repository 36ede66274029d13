"""Lets two names change places over and over, as a race for whoever looks twice (F73)."""

import contextlib
import ctypes
import os
import pathlib
import threading
from collections.abc import Iterator

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2


@contextlib.contextmanager
def swapping(one: pathlib.Path, other: pathlib.Path) -> Iterator[None]:
    """Each stands where the other stood, hundreds of times a second, until the block ends."""
    over = threading.Event()

    def swap() -> None:
        rename = ctypes.CDLL(None).renameat2
        names = os.fsencode(one), os.fsencode(other)
        while not over.is_set():
            rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        yield
    finally:
        over.set()
        swapper.join(10)
