"""Finds what a path names beneath a workspace's root, whatever links or races lead out of it.

A path is walked one component at a time from a descriptor of the root; a link is read and walked by
hand, never followed by the kernel. So nothing that is swapped between a check and its use leads
outside (K10, F17, F73). Where a workspace has further roots, a path's own words say in which it
lies; nothing leads from one into another (C-25, C-27).
"""

import contextlib
import errno
import os
import pathlib
import stat
from collections.abc import Iterator
from typing import Literal

from redshank_node.tools.support.files import own_files
from redshank_node.tools.tool import BadArguments
from redshank_shared.domain.roots import WORKSPACE, Ground, Root, Roots

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
    "read_only",
    "unmade",
]
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY

_ALIAS = pathlib.Path(WORKSPACE)

_MAX_LINKS = 40
# What the system takes as a path: nobody else could open a longer one.
_LONGEST = 4095


class PathRefused(BadArguments):
    """The path cannot be used so. The message names the path and the mend.

    `kind` says which refusal it is.
    """

    def __init__(self, kind: Kind, message: str) -> None:
        super().__init__(f"path: {message}")
        self.kind = kind


def is_unmade(refused: BadArguments) -> bool:
    """Whether it was refused for a root in which nothing was written yet: an empty folder."""
    return isinstance(refused, PathRefused) and refused.kind == "unmade"


class Place:
    """Where a path ends: `name` in the folder that `parent` (a descriptor) is open on.

    `info` is what stands there (never a link), None where nothing does; `relative` is the path from
    its root with all links resolved, `key` what stands for that beside the files of other roots;
    `by_link` says that the last name is a link to here, `dangling` that it names this nothing.
    `name` is "." where the path names a folder.
    """

    def __init__(self, asked: str, root: Root, relative: str, parent: int, name: str) -> None:
        self.asked = asked
        self.root = root
        self.relative = relative
        self.key = root.key(relative)
        self.parent = parent
        self.name = name
        self.info: os.stat_result | None = None
        self.by_link = False
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

        Raises PathRefused, also where it was swapped since the look at it, or is to be written in
        a root that may not be.
        """
        self.regular()
        if flags & (os.O_WRONLY | os.O_RDWR) and not self.root.writable:
            raise _read_only(self.asked, self.root)
        with _system_errors(self.asked):
            descriptor = os.open(self.name, flags | FILE, dir_fd=self.parent)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise PathRefused("changed", f"{self.asked!r} was swapped meanwhile; try again")
        return descriptor


@contextlib.contextmanager
def located(ground: Ground, path: str, *, make_folders: bool = False) -> Iterator[Place]:
    """The place that a path names; it holds a descriptor until the block ends.

    Raises PathRefused where the path leaves the root or goes through something that is no folder. A
    last component that does not exist is a place with no `info`; folders before it are made with
    `make_folders`, which a root refuses that may not be written.
    """
    with _system_errors(path):
        walk = _Walk(ground, path, make_folders)
        try:
            yield walk.place()
        finally:
            walk.close()


def open_file(ground: Ground, path: str) -> int:
    """A read-only descriptor of the regular file at the path; raises PathRefused."""
    with located(ground, path) as place:
        return place.open(os.O_RDONLY)


def open_folder(ground: Ground, path: str) -> tuple[int, Root, str]:
    """A descriptor of the folder at the path, its root, its path from there ("." for itself)."""
    with located(ground, path) as place:
        if place.info is None:
            raise place.missing()
        if not stat.S_ISDIR(place.info.st_mode):
            raise PathRefused("not_folder", f"{path!r} is no folder")
        return os.open(".", FOLDER, dir_fd=place.parent), place.root, place.relative


def check_beneath(ground: Ground, path: str) -> None:
    """Raises PathRefused where the path leads out of its root; what does not exist is fine."""
    try:
        with located(ground, path):
            pass
    except PathRefused as refused:
        if refused.kind not in ("missing", "unmade"):
            raise


def check_writable(ground: Ground, path: str) -> None:
    """Raises PathRefused where the path lies in a root that may only be read."""
    found = ground.holding(path) if isinstance(ground, Roots) else None
    if found is not None and not found[0].writable:
        raise _read_only(path, found[0])


class _Walk:
    """One walk.

    The descriptors of the folders from the root to here, and the components still to go.
    """

    def __init__(self, ground: Ground, path: str, make_folders: bool) -> None:
        _check_text(path)
        self._path = path
        self._root = _root_of(ground, path)
        self._make_folders = make_folders
        self._links = 0
        self._names: list[str] = []
        self._todo = list(reversed(self._components(path)))
        self._asked_todo = len(self._todo)
        if make_folders and not self._root.writable:
            raise _read_only(path, self._root)
        self._folders = [self._opened()]

    def _opened(self) -> int:
        root = self._root
        if root.prefix not in ("", WORKSPACE) and not root.folder.exists():
            self._unmade()
        try:
            return os.open(root.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise PathRefused(
                "system",
                f"the workspace {root.prefix or str(root.folder)!r} cannot be opened "
                f"({error.strerror}); the operator must mend it",
            ) from error

    def _unmade(self) -> None:
        """A root in which nothing was written yet is an empty folder."""
        if ".." in self._todo:
            raise self._up_from_nothing()
        if not self._todo:
            raise PathRefused("unmade", f"{self._path!r} is empty, nothing was written there yet")
        if not self._make_folders:
            raise PathRefused(
                "missing", f"{self._path!r} does not exist; list_files shows what does"
            )
        os.makedirs(self._root.folder, 0o700, exist_ok=True)

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
                raise self._up_from_nothing()
            elif info is None and self._make_folders and not by_link:
                self._make(part)
            elif info is None:
                raise self._ends(part, None).missing()
            else:
                raise PathRefused("not_folder", f"{part!r} in {self._path!r} is no folder")
        return self._ends(".", os.fstat(self._folders[-1]))

    def _ends(self, name: str, info: os.stat_result | None, by_link: bool = False) -> Place:
        names = self._names if name == "." else [*self._names, name]
        root = self._root
        place = Place(self._path, root, "/".join(names) or ".", self._folders[-1], name)
        if own_files.is_own(root.folder, place.relative):
            raise PathRefused(
                "own", f"{self._path!r} is one of Redshank's own files, which no tool may touch"
            )
        if root.only and not root.shows(place.relative) and not root.leads(place.relative):
            raise place.missing()
        place.info = info
        place.by_link = by_link
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

    def _up_from_nothing(self) -> PathRefused:
        return PathRefused(
            "malformed", f"{self._path!r} goes up from what does not exist; leave out the '..'"
        )

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
        for name in self._names_of_root():
            above = list(name.parts[1:])
            if parts[: len(above)] == above:
                return "/".join(parts[len(above) :])
        raise self._escape()

    def _names_of_root(self) -> tuple[pathlib.Path, ...]:
        folder = self._root.folder
        real = pathlib.Path(os.path.realpath(folder))
        if self._root.prefix:
            return (pathlib.Path(self._root.prefix), folder, real)
        # A sandboxed command sees its workspace under this name too (C-27), where the node has
        # nothing of that name itself.
        return (folder, real) if _ALIAS.exists() else (folder, real, _ALIAS)

    def _escape(self) -> PathRefused:
        where = self._root.prefix or "the workspace"
        example = f"{self._root.prefix}/notes.md" if self._root.prefix else "src/main.py"
        return PathRefused(
            "escape",
            f"{self._path!r} leads out of {where}; name a path in it, as in {example!r}",
        )


def _root_of(ground: Ground, path: str) -> Root:
    if not isinstance(ground, Roots):
        return Root("", ground, writable=True)
    found = ground.holding(path)
    if found is None:
        raise PathRefused(
            "escape", f"{path!r} leads out of all there is; name a path in {ground.named()}"
        )
    return found[0]


def _read_only(path: str, root: Root) -> PathRefused:
    return PathRefused(
        "read_only",
        f"{path!r} lies in {root.prefix}, which may only be read; write below {WORKSPACE}",
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
        length = len(path.encode(errors="surrogateescape"))
    except UnicodeEncodeError:
        raise PathRefused(
            "malformed", f"{path!r} holds half a character; send the name as it is"
        ) from None
    if length > _LONGEST:
        raise PathRefused(
            "malformed", f"{path[:80]!r}... has {length} bytes, a path has at most {_LONGEST}"
        )


def _sort(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    if stat.S_ISSOCK(mode):
        return "a socket"
    return "a device"
