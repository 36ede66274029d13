"""Takes folders away again that were made for a file that then was not written."""

import contextlib
import os
from collections.abc import Iterator

from redshank_node.tools.support.files.paths import FOLDER, PathRefused, located
from redshank_shared.domain.roots import Ground


@contextlib.contextmanager
def only_if_written(ground: Ground, path: str) -> Iterator[None]:
    """Where the block fails, folders on the way to the path that were not there before are removed,
    if they are empty.
    """
    missing = _missing(ground, path)
    try:
        yield
    except BaseException:
        for folder in reversed(missing):
            _remove(ground, folder)
        raise


def _missing(ground: Ground, path: str) -> list[str]:
    try:
        with located(ground, path):
            return []
    except PathRefused as refused:
        if refused.kind != "missing":
            return []
    first = "/" if path.startswith("/") else ""
    parts = [part for part in path.split("/")[:-1] if part not in ("", ".")]
    return [
        folder
        for count in range(1, len(parts) + 1)
        for folder in (first + "/".join(parts[:count]),)
        if not _is_there(ground, folder)
    ]


def _is_there(ground: Ground, folder: str) -> bool:
    try:
        with located(ground, folder) as place:
            return place.info is not None
    except PathRefused:
        return False


def _remove(ground: Ground, folder: str) -> None:
    """The folder, if nobody else put something into it."""
    with contextlib.suppress(OSError, PathRefused), located(ground, folder) as place:
        parent = os.open("..", FOLDER, dir_fd=place.parent)
        try:
            os.rmdir(folder.rpartition("/")[2], dir_fd=parent)
        finally:
            os.close(parent)
