"""Bounds a whole command with all that it starts, by a control group of its own."""

import contextlib
import itertools
import logging
import os
import pathlib
from collections.abc import Callable

_logger = logging.getLogger(__name__)

_ROOT = pathlib.Path("/sys/fs/cgroup")
# What systemd's DelegateSubgroup= names: then the group above is ours to divide.
_DELEGATED = "node"
_JOINED_SECONDS = 60.0
# The shell puts itself into each group, then becomes the command.
_ENTER = 'for group in $1; do echo 0 > "$group/cgroup.procs" || exit 126; done; shift; exec "$@"'


class Groups:
    """The control groups of one node's commands; each is removed once it stands empty."""

    def __init__(
        self,
        folders: tuple[pathlib.Path, ...],
        bounds: dict[str, int],
        monotonic: Callable[[], float],
    ) -> None:
        """`folders`: where groups are made, one for each hierarchy; `bounds`: what is written where
        a group has such a file.
        """
        self._folders = folders
        self._bounds = bounds
        self._monotonic = monotonic
        self._numbers = itertools.count(1)
        self._open: list[tuple[float, pathlib.Path]] = []

    def argv(self, inner: tuple[str, ...]) -> tuple[str, ...]:
        """The command line that joins new groups, then becomes `inner`. Raises OSError where they
        cannot be made.
        """
        self._sweep(_JOINED_SECONDS)
        name = str(next(self._numbers))
        made = [self._made(folder / name) for folder in self._folders]
        return ("/bin/sh", "-c", _ENTER, "sh", " ".join(map(str, made)), *inner)

    def close(self) -> bool:
        """Whether nothing of it is left, once everything that stands empty is removed."""
        self._sweep(0)
        return not self._open and all([_removed(folder) for folder in self._folders])

    def _sweep(self, age_seconds: float) -> None:
        """Remove the groups whose commands have ended. A new one stands empty until it is joined:
        those younger than that are left alone.
        """
        before = self._monotonic() - age_seconds
        self._open = [
            (made_at, group)
            for made_at, group in self._open
            if made_at > before or not _removed(group)
        ]

    def _made(self, group: pathlib.Path) -> pathlib.Path:
        group.mkdir()
        self._open.append((self._monotonic(), group))
        for name, bound in self._bounds.items():
            if bound and (group / name).exists():
                (group / name).write_text(str(bound))
        return group


def groups_here(
    memory_bytes: int, processes: int, node: int, monotonic: Callable[[], float]
) -> Groups | None:
    """Groups below those of this process, node being its id; None where it may not make any.

    Version 2 needs a folder whose controllers were delegated, as systemd does with
    `DelegateSubgroup=node`; version 1 the right to write.
    """
    bounds = {
        "memory.max": memory_bytes,
        "memory.swap.max": 0,
        "memory.limit_in_bytes": memory_bytes,
        "pids.max": processes,
    }
    for folders in _candidates():
        made = tuple(folder / f"redshank-{node}" for folder in folders)
        try:
            for folder in made:
                _enable(folder.parent)
                _clear_old(folder.parent)
                folder.mkdir()
                _enable(folder)
        except OSError as error:
            _logger.debug("no control groups in %s: %s", folders, error)
            for folder in made:
                _removed(folder)
            continue
        return Groups(made, bounds, monotonic)
    return None


def _candidates() -> list[tuple[pathlib.Path, ...]]:
    places = _own_places()
    found: list[tuple[pathlib.Path, ...]] = []
    if (_ROOT / "cgroup.controllers").exists():
        own = _ROOT / places.get("", "/").lstrip("/")
        found.append((own,))
        if own.name == _DELEGATED:
            found.append((own.parent,))
    elif "memory" in places and "pids" in places:
        found.append(tuple(_ROOT / name / places[name].lstrip("/") for name in ("memory", "pids")))
    return found


def _own_places() -> dict[str, str]:
    places = {}
    for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, place = line.split(":", 2)
        for name in controllers.split(","):
            places[name] = place
    return places


def _enable(folder: pathlib.Path) -> None:
    control = folder / "cgroup.subtree_control"
    if control.exists() and not {"memory", "pids"} <= set(control.read_text().split()):
        control.write_text("+memory +pids")


def _clear_old(parent: pathlib.Path) -> None:
    """Remove what nodes left that are gone."""
    for old in parent.glob("redshank-*"):
        if not pathlib.Path("/proc", old.name.removeprefix("redshank-")).exists():
            for group in old.iterdir():
                if group.is_dir():
                    _removed(group)
            _removed(old)


def _removed(group: pathlib.Path) -> bool:
    with contextlib.suppress(FileNotFoundError):
        try:
            os.rmdir(group)
        except OSError:
            return False
    return True
