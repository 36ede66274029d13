"""Writes the changes of a patch: all of them or none."""

import contextlib
import errno
import logging
import os

from redshank_node.tools.support.edits.change import MAX_BYTES
from redshank_node.tools.support.files import writing
from redshank_node.tools.support.files.file_digests import digest_of
from redshank_node.tools.support.files.new_folders import only_if_written
from redshank_node.tools.support.files.paths import PathRefused, Place, located
from redshank_node.tools.support.patches.plan import FileChange
from redshank_shared.domain.roots import Ground

logger = logging.getLogger(__name__)

_BACKUP = ".redshank-{}-{}.old"
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)


def write_all(ground: Ground, changes: tuple[FileChange, ...]) -> None:
    """Make all changes of the patch. Where one fails, everything is as it was before (K12).

    All new bytes are on the disk before the first file is touched, so that a full disk changes
    nothing. Raises PathRefused: for files that changed since the plan was made (F33), that another
    call writes, that cannot be written.
    """
    with contextlib.ExitStack() as held:
        writer = _Writer(ground, held)
        try:
            for change in changes:
                writer.stage(change)
            writer.commit()
        except BaseException as failed:
            writer.roll_back()
            if isinstance(failed, OSError):
                raise PathRefused(
                    "system", f"the patch cannot be written: {failed.strerror}; nothing was changed"
                ) from failed
            raise
        writer.clean_up()


class _Writer:
    def __init__(self, ground: Ground, held: contextlib.ExitStack) -> None:
        self._ground = ground
        self._held = held
        self._staged: list[tuple[Place, str]] = []
        self._going: list[Place] = []
        # What was done, to be undone backwards: the place, the name of what was there before.
        self._done: list[tuple[Place, str | None]] = []

    def stage(self, change: FileChange) -> None:
        """Check the files, put the bytes beside where they go."""
        if change.action == "add":
            self._stage_new(change.path, change, None)
            return
        place = self._held.enter_context(located(self._ground, change.path))
        descriptor = self._held.enter_context(writing.held(place, os.O_RDWR))
        if digest_of(writing.read_bytes(descriptor, MAX_BYTES + 1)) != change.sha256:
            raise writing.changed(place)
        like = os.fstat(descriptor)
        if change.action == "delete":
            self._going.append(place)
        elif change.move_to:
            self._going.append(place)
            self._stage_new(change.move_to, change, like)
        else:
            self._stage(place, change, like)

    def _stage_new(self, path: str, change: FileChange, like: os.stat_result | None) -> None:
        self._held.enter_context(only_if_written(self._ground, path))
        place = self._held.enter_context(located(self._ground, path, make_folders=True))
        if place.info is not None:
            raise writing.changed(place)
        writing.check_new(place, None)
        self._stage(place, change, like)

    def _stage(self, place: Place, change: FileChange, like: os.stat_result | None) -> None:
        name = writing.stage(place, change.data, like)
        self._staged.append((place, name))
        if change.executable is not None:
            mode = os.stat(name, dir_fd=place.parent).st_mode & 0o7777
            may_read = (mode & 0o444) >> 2
            mode = mode | may_read if change.executable else mode & ~0o111
            os.chmod(name, mode, dir_fd=place.parent)

    def commit(self) -> None:
        """Put everything in its place; each step can be undone."""
        while self._staged:
            place, name = self._staged[0]
            if place.info is None:
                _put_new(place, name)
                # Only now: what somebody else put there meanwhile is not ours to take away.
                self._done.append((place, None))
            else:
                self._done.append((place, _set_aside(place)))
                os.rename(name, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
            self._staged.pop(0)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=place.parent)
        for place in self._going:
            self._done.append((place, _set_aside(place)))
            os.unlink(place.name, dir_fd=place.parent)
        for place, _ in self._done:
            writing.sync_folder(place)

    def roll_back(self) -> None:
        """Undo what was done, take away what was staged."""
        for place, backup in reversed(self._done):
            with contextlib.suppress(FileNotFoundError):
                if backup is None:
                    os.unlink(place.name, dir_fd=place.parent)
                    continue
                os.rename(backup, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
                # Where the file is still the one set aside, renaming leaves both names.
                os.unlink(backup, dir_fd=place.parent)
        for place, name in self._staged:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=place.parent)

    def clean_up(self) -> None:
        """Take away what was kept for undoing."""
        for place, backup in self._done:
            if backup is not None:
                try:
                    os.unlink(backup, dir_fd=place.parent)
                except OSError:
                    logger.exception("%s stays beside %s", backup, place.key)


def _put_new(place: Place, name: str) -> None:
    """Fails where something came to be there meanwhile, which a rename would replace."""
    try:
        os.link(name, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        os.rename(name, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)


def _set_aside(place: Place) -> str:
    """Another name for the file at the place; the file stays there too."""
    number = 0
    while True:
        name = _BACKUP.format(os.getpid(), number)
        try:
            os.link(place.name, name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
            return name
        except FileExistsError:
            number += 1
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return _copied(place)


def _copied(place: Place) -> str:
    """A copy of the file beside it, where the file system has no links."""
    descriptor = place.open(os.O_RDONLY)
    try:
        info = os.fstat(descriptor)
        return writing.stage(place, writing.read_bytes(descriptor, info.st_size + 1), info)
    finally:
        os.close(descriptor)
