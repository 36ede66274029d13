"""Finds what a path names beneath a workspace's root, whatever links or races lead out of it.

A path is walked one component at a time from a descriptor of the root; a link is read and walked by
hand, never followed by the kernel. So nothing that is swapped between a check and its use leads
outside (K10, F17, F73).
"""

import contextlib
import errno
import os
import pathlib
import stat
from collections.abc import Iterator
from typing import Literal

from redshank_node.tools.support import own_files
from redshank_node.tools.tool import BadArguments

Kind = Literal[
    "escape",
    "missing",
    "folder",
    "not_folder",
    "not_regular",
    "hard_link",
    "dangling",
    "loop",
    "malformed",
    "system",
    "changed",
    "busy",
    "own",
]
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY

ALIAS = pathlib.Path("/workspace")

_MAX_LINKS = 40


class PathRefused(BadArguments):
    """The path cannot be used so. The message names the path and the mend.

    `kind` says which refusal it is.
    """

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(f"path: {message}")
        self.kind = kind


class Place:
    """Where a path ends: `name` in the folder that `parent` (a descriptor) is open on.

    `info` is what stands there (never a link), None where nothing does; `relative` is the path from
    the root with all links resolved; `dangling` says that a link names this nothing. `name` is "."
    where the path names a folder.
    """

    def __init__(self, asked: str, relative: str, parent: int, name: str) -> None:
        self.asked = asked
        self.relative = relative
        self.parent = parent
        self.name = name
        self.info: os.stat_result | None = None
        self.dangling = False

    def missing(self) -> PathRefused:
        """The refusal for a path that names nothing."""
        return PathRefused("missing", f"{self.asked!r} does not exist; list_files shows what does")

    def regular(self) -> os.stat_result:
        """What `info` holds, if it is a regular file.

        Raises PathRefused for folders, pipes and devices (F21).
        """
        if self.info is None:
            raise self.missing()
        if stat.S_ISDIR(self.info.st_mode):
            raise PathRefused("folder", f"{self.asked!r} is a folder; name a file in it")
        if not stat.S_ISREG(self.info.st_mode):
            raise PathRefused(
                "not_regular",
                f"{self.asked!r} is {_sort(self.info.st_mode)}; only regular files can be used",
            )
        return self.info

    def open(self, flags: int) -> int:
        """A descriptor of the regular file itself.

        Raises PathRefused, also where it was swapped since the look at it.
        """
        self.regular()
        with _system_errors(self.asked):
            descriptor = os.open(self.name, flags | FILE, dir_fd=self.parent)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise PathRefused("changed", f"{self.asked!r} was swapped meanwhile; try again")
        return descriptor


@contextlib.contextmanager
def located(root: pathlib.Path, path: str, *, make_folders: bool = False) -> Iterator[Place]:
    """The place that a path names; it holds a descriptor until the block ends.

    Raises PathRefused where the path leaves the root or goes through something that is no folder. A
    last component that does not exist is a place with no `info`; folders before it are made with
    `make_folders`.
    """
    with _system_errors(path):
        walk = _Walk(root, path, make_folders)
        try:
            yield walk.place()
        finally:
            walk.close()


def open_file(root: pathlib.Path, path: str) -> int:
    """A read-only descriptor of the regular file at the path; raises PathRefused."""
    with located(root, path) as place:
        return place.open(os.O_RDONLY)


def open_folder(root: pathlib.Path, path: str) -> tuple[int, str]:
    """A descriptor of the folder at the path, with its path from the root ("." for itself)."""
    with located(root, path) as place:
        if place.info is None:
            raise place.missing()
        if not stat.S_ISDIR(place.info.st_mode):
            raise PathRefused("not_folder", f"{path!r} is no folder")
        return os.open(".", FOLDER, dir_fd=place.parent), place.relative


def check_beneath(root: pathlib.Path, path: str) -> None:
    """Raises PathRefused where the path leads out of the root; what does not exist is fine."""
    try:
        with located(root, path):
            pass
    except PathRefused as refused:
        if refused.kind != "missing":
            raise


class _Walk:
    """One walk.

    The descriptors of the folders from the root to here, and the components still to go.
    """

    def __init__(self, root: pathlib.Path, path: str, make_folders: bool) -> None:
        _check_text(path)
        self._root = root
        self._path = path
        self._make_folders = make_folders
        self._links = 0
        self._names: list[str] = []
        self._todo = list(reversed(self._components(path)))
        self._asked_todo = len(self._todo)
        try:
            self._folders = [os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)]
        except OSError as error:
            raise PathRefused(
                "system",
                f"the workspace {str(root)!r} cannot be opened ({error.strerror}); "
                "the operator must mend it",
            ) from error

    def close(self) -> None:
        for descriptor in self._folders:
            os.close(descriptor)

    def place(self) -> Place:
        while self._todo:
            by_link = len(self._todo) > self._asked_todo
            self._asked_todo -= not by_link
            part = self._todo.pop()
            if part == "..":
                self._up()
                continue
            info = self._look(part)
            if info is not None and stat.S_ISLNK(info.st_mode):
                self._follow(part)
            elif info is not None and stat.S_ISDIR(info.st_mode):
                self._enter(part)
            elif not self._todo:
                return self._ends(part, info, by_link)
            elif info is None and ".." in self._todo:
                raise PathRefused(
                    "malformed",
                    f"{self._path!r} goes up from what does not exist; leave out the '..'",
                )
            elif info is None and self._make_folders and not by_link:
                self._make(part)
            elif info is None:
                raise self._ends(part, None).missing()
            else:
                raise PathRefused("not_folder", f"{part!r} in {self._path!r} is no folder")
        return self._ends(".", os.fstat(self._folders[-1]))

    def _ends(self, name: str, info: os.stat_result | None, by_link: bool = False) -> Place:
        names = self._names if name == "." else [*self._names, name]
        place = Place(self._path, "/".join(names) or ".", self._folders[-1], name)
        if own_files.is_own(self._root, place.relative):
            raise PathRefused(
                "own", f"{self._path!r} is one of Redshank's own files, which no tool may touch"
            )
        place.info = info
        place.dangling = info is None and by_link
        return place

    def _look(self, part: str) -> os.stat_result | None:
        try:
            return os.stat(part, dir_fd=self._folders[-1], follow_symlinks=False)
        except FileNotFoundError:
            return None

    def _up(self) -> None:
        if len(self._folders) == 1:
            raise self._escape()
        os.close(self._folders.pop())
        self._names.pop()

    def _enter(self, part: str) -> None:
        try:
            self._folders.append(os.open(part, FOLDER, dir_fd=self._folders[-1]))
        except OSError as error:
            if error.errno not in (errno.ELOOP, errno.ENOTDIR, errno.ENOENT):
                raise
            # Somebody put something else there since the look at it: look again.
            self._count_link()
            self._todo.append(part)
            return
        self._names.append(part)

    def _follow(self, part: str) -> None:
        self._count_link()
        target = os.readlink(part, dir_fd=self._folders[-1])
        if target.startswith("/"):
            while len(self._folders) > 1:
                self._up()
        self._todo.extend(reversed(self._components(target)))

    def _count_link(self) -> None:
        self._links += 1
        if self._links > _MAX_LINKS:
            raise PathRefused("loop", f"{self._path!r} goes through too many links")

    def _make(self, part: str) -> None:
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, dir_fd=self._folders[-1])
        self._todo.append(part)

    def _components(self, path: str) -> list[str]:
        if path.startswith("/"):
            path = self._below_root(path)
        return [part for part in path.split("/") if part not in ("", ".")]

    def _below_root(self, path: str) -> str:
        parts = [part for part in path.split("/") if part not in ("", ".")]
        # A sandboxed command sees its workspace under this name too (C-27), where the node has
        # nothing of that name itself.
        alias = () if ALIAS.exists() else (ALIAS,)
        for root in (self._root, pathlib.Path(os.path.realpath(self._root)), *alias):
            above = list(root.parts[1:])
            if parts[: len(above)] == above:
                return "/".join(parts[len(above) :])
        raise self._escape()

    def _escape(self) -> PathRefused:
        return PathRefused(
            "escape",
            f"{self._path!r} leads out of the workspace; name a path in it, as in 'src/main.py'",
        )


@contextlib.contextmanager
def _system_errors(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise PathRefused("system", f"{path!r} cannot be used: {error.strerror}") from error


def _check_text(path: str) -> None:
    if not path or "\x00" in path:
        raise PathRefused("malformed", f"{path!r} is no path; send text without NUL characters")
    try:
        path.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        raise PathRefused(
            "malformed", f"{path!r} holds half a character; send the name as it is"
        ) from None


def _sort(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"
