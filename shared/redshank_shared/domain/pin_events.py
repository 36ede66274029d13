"""Facts about files that stay in an agent's sight."""

from redshank_shared.domain.fact import Fact


class FilePinned(Fact, frozen=True, tag="file.pinned"):
    """From here on the file stands in every prompt (C22): as a whole where it is small or `whole`,
    else its outline with these sections. Replaces what was said of the same path before.

    `path` leads from the workspace's root, with all links resolved.
    """

    path: str
    sections: tuple[str, ...] = ()
    whole: bool = False


class FileUnpinned(Fact, frozen=True, tag="file.unpinned"):
    """The file stands in no further prompt. `gone`: it could not be read any more (C24)."""

    path: str
    gone: bool = False
