"""Says in which of a workspace's folders a path lies, by the names that an agent has for them."""

import pathlib
import posixpath

import msgspec

WORKSPACE = "/workspace"


class Root(msgspec.Struct, frozen=True):
    """A folder of this machine under the name that an agent has for it, as in `/memories` (C-25).

    `folder` is absolute; `only` are the paths from it that are shown with all below them, every one
    where it is empty.
    """

    prefix: str
    folder: pathlib.Path
    writable: bool = False
    only: tuple[str, ...] = ()

    def key(self, relative: str) -> str:
        """What stands for a path from this root wherever files are named: the path itself in the
        workspace, elsewhere the absolute one. So no two files of two roots share a name.
        """
        if self.prefix in ("", WORKSPACE):
            return relative
        return self.prefix if relative == "." else f"{self.prefix}/{relative}"

    def shows(self, relative: str) -> bool:
        """Whether the path from this root is shown with all that lies below it."""
        return not self.only or any(_is_beneath(relative, shown) for shown in self.only)

    def leads(self, relative: str) -> bool:
        """Whether something that is shown lies below the path from this root."""
        return relative == "." or any(_is_beneath(shown, relative) for shown in self.only)


class Roots(msgspec.Struct, frozen=True):
    """A workspace's folder with those beside it: what an agent may name by an absolute path."""

    folder: pathlib.Path
    further: tuple[Root, ...]

    def all(self) -> tuple[Root, ...]:
        """The workspace first."""
        return (Root(WORKSPACE, self.folder, writable=True), *self.further)

    def holding(self, path: str) -> tuple[Root, str] | None:
        """The root that a path lies in, with the rest of the path; None where that is none of them.

        No link is looked at. `..` is left as it is: it leads no higher than the root. What a
        command shows under the machine's own names, where nothing gives it others, is understood.
        """
        roots = self.all()
        if not path.startswith("/"):
            return roots[0], path
        parts = [part for part in path.split("/") if part not in ("", ".")]
        named = [(pathlib.PurePosixPath(root.prefix), root) for root in roots]
        own = [(pathlib.PurePosixPath(root.folder), root) for root in roots]
        for names in (named, own):
            found = [(name, root) for name, root in names if _begins(parts, name)]
            if found:
                name, root = max(found, key=lambda one: len(one[0].parts))
                return root, "/".join(parts[len(name.parts) - 1 :])
        return None

    def named(self) -> str:
        """Their names, for people."""
        return ", ".join(root.prefix for root in self.all())

    def children(self, path: str) -> list[str] | None:
        """The names that lie in a folder that is none of the roots but stands above some of them,
        in order; None for every other path.
        """
        above = pathlib.PurePosixPath(posixpath.normpath(path))
        prefixes = [pathlib.PurePosixPath(root.prefix) for root in self.all()]
        below = [name for name in prefixes if name.is_relative_to(above)]
        if not below or above in below:
            return None
        return sorted({name.relative_to(above).parts[0] for name in below})


# Where paths are found: a workspace's folder alone, or with further roots.
Ground = pathlib.Path | Roots


def key_of(ground: Ground, path: str) -> str:
    """The key of what a path names by its words alone: no link is looked at, nothing need be there.

    A path that lies nowhere stands for itself.
    """
    if not isinstance(ground, Roots):
        return posixpath.relpath(posixpath.join(ground, path), ground)
    found = ground.holding(path)
    if found is None:
        return posixpath.normpath(path)
    root, rest = found
    return root.key(posixpath.normpath(rest or "."))


def is_in(key: str, prefix: str) -> bool:
    """Whether a key names something below the root of this name."""
    return key.startswith(f"{prefix}/")


def _begins(parts: list[str], name: pathlib.PurePosixPath) -> bool:
    above = list(name.parts[1:])
    return parts[: len(above)] == above


def _is_beneath(path: str, above: str) -> bool:
    return path == above or path.startswith(f"{above}/")
