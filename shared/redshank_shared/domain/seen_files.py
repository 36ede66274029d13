"""What a workstream knows of files: their digests when it last read or wrote them."""

from collections.abc import Mapping

import msgspec

_MOST_FILES = 1000


class SeenFile(msgspec.Struct, frozen=True):
    """A file as a call read or left it. `path` leads from the workspace's root, all links resolved;
    `digest` says which bytes these were, in whatever form the node wrote it.
    """

    path: str
    digest: str


def remembered(known: Mapping[str, str], seen: tuple[SeenFile, ...]) -> dict[str, str]:
    """Digests by path with these further ones; of very many the ones seen last (T-25, F33)."""
    after = dict(known)
    for file in seen:
        after.pop(file.path, None)
        after[file.path] = file.digest
    for path in list(after)[:-_MOST_FILES]:
        del after[path]
    return after
