"""Keeps what tools.toml says, read again where the file has changed (C-8)."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.profiles.profile import Profile, known_profiles, load
from redshank_shared.profiles.tools_file import ToolsFile, read_tools_file
from redshank_shared.settings.sections import Settings

logger = logging.getLogger(__name__)

_Stamp = tuple[int, int]
_ABSENT: _Stamp = (0, -1)


class Place(msgspec.Struct, frozen=True):
    """Where a tools.toml lies, the setting that says so, the profiles whose names it may use.
    `required`: whether there must be one.
    """

    path: Path
    field: str
    profiles: tuple[Profile, ...]
    required: bool


class ToolsInForce(msgspec.Struct, frozen=True):
    """A file as it was read last, None where there is none; `revision` grows with each reading."""

    file: ToolsFile | None = None
    revision: int = 0


class WatchedToolsFile:
    """One file. Once read it is never lost: a change that cannot be read keeps what was."""

    def __init__(self, place: Place, servers: Sequence[str]) -> None:
        self._place = place
        self._servers = servers
        self._stamp = _ABSENT
        self._now = ToolsInForce()

    @property
    def place(self) -> Place:
        """Where it lies."""
        return self._place

    def read(self) -> ToolsInForce:
        """The file's words; Misconfigured names what to mend, also where a required file is not
        there.
        """
        stamp = self._stamp_now()
        if stamp == _ABSENT:
            if self._place.required:
                raise Misconfigured(
                    f"{self._place.field} names {self._place.path}, which is not there: write it",
                    code="tools_invalid",
                    field=self._place.field,
                )
            return self._now
        self._stamp = stamp
        self._now = ToolsInForce(self._file(), self._now.revision + 1)
        return self._now

    def current(self) -> ToolsInForce:
        """The file's words as of now, or, where it cannot be read, as they were."""
        stamp = self._stamp_now()
        if stamp == self._stamp:
            return self._now
        try:
            if stamp == _ABSENT:
                self._stamp = stamp
                logger.warning("%s is gone; its last words hold", self._place.path)
                return self._now
            return self.read()
        except Misconfigured as wrong:
            logger.warning("the tools stay as they were: %s", wrong.detail)
            return self._now

    def _stamp_now(self) -> _Stamp:
        try:
            found = self._place.path.stat()
        except OSError:
            return _ABSENT
        return found.st_mtime_ns, found.st_size

    def _file(self) -> ToolsFile:
        place = self._place
        try:
            text = place.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Misconfigured(
                f"{place.path} cannot be read: {error}", code="tools_invalid", field=place.field
            ) from error
        return read_tools_file(text, str(place.path), place.profiles, self._servers)


class ToolsFiles:
    """The tools.toml of each profile that has one."""

    def __init__(self, settings: Settings, workspace: Path) -> None:
        servers = [server.name for server in settings.mcp_servers]
        self._by_profile = {
            name: WatchedToolsFile(place, servers)
            for name, place in _places(settings, workspace).items()
        }

    def all(self) -> Mapping[str, WatchedToolsFile]:
        """The files by profile."""
        return self._by_profile

    def current(self, profile: str) -> ToolsInForce:
        """What holds for this profile from now on."""
        watched = self._by_profile.get(profile)
        return watched.current() if watched is not None else ToolsInForce()

    def path_of(self, profile: str) -> str:
        """Where its file lies, or would."""
        watched = self._by_profile.get(profile)
        return str(watched.place.path) if watched is not None else ""


def _places(settings: Settings, workspace: Path) -> dict[str, Place]:
    profiles = [load(name) for name in known_profiles()]
    places = {}
    for profile in profiles:
        source = settings.profiles.get(profile.name)
        own = source.tools_config if source is not None else ""
        if own:
            field = f"profiles.{profile.name}.tools_config"
            places[profile.name] = Place(Path(own).expanduser(), field, (profile,), required=True)
        elif settings.tools.config:
            path = Path(settings.tools.config).expanduser()
            places[profile.name] = Place(path, "tools.config", tuple(profiles), required=True)
        elif not profile.unlisted:
            # Beside the workspace: what an agent writes does not give it tools.
            path = workspace.parent / "config" / "tools.toml"
            places[profile.name] = Place(path, "tools.config", (profile,), required=False)
    return places
