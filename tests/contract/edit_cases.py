"""Runs edit cases: files, reads, calls in a profile's own words, what must have come of them."""

import base64
import os
import pathlib
import re
import tomllib
from typing import Any

import msgspec

from redshank_node.engine.profile_roots import kept_roots
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.support.exposure import exposed
from redshank_node.tools.tool import BadArguments, CallContext, Result, Tool, Workspace
from redshank_shared.domain.seen_files import remembered
from redshank_shared.profiles.profile import Exposure, load

_FOLDER = pathlib.Path(__file__).parent / "cases"
KINDS = {
    "not_found": "is not in the file",
    "ambiguous": r"matches \d+ places",
    "overlap": "overlap",
    "empty_old": "must not be empty",
    "no_change": "nothing would change",
    "stale": "changed",
    "not_read": "was not read yet",
    "bad_arguments": r"must be|must have|is required|cannot stand beside|is not an argument",
    "bad_near": "near",
    "missing_file": "does not exist",
    "exists": "exists already",
    "escape": "leads out of the workspace",
    "binary": "no text",
    "encoding": "encoding|UTF-8",
    "malformed_patch": "patch",
    "unknown_apply": "there is no dry run",
}


def cases(*names: str) -> list[dict[str, Any]]:
    """All cases of these files."""
    return [case for name in names for case in tomllib.loads((_FOLDER / name).read_text())["case"]]


class Session:
    """One workstream's calls in a real folder, under a profile's names."""

    def __init__(self, root: pathlib.Path, profile: str = "default") -> None:
        self.root = root
        self.seen: dict[str, str] = {}
        self._profile = load(profile)
        self.roots = kept_roots(self._profile.roots, root, "")
        self._calls = 0

    def tool(self, name: str) -> Tool:
        """The tool that the profile shows under this name."""
        card = next(card for card in self._profile.tools if card.name == name)
        own = next(tool for tool in BUILTIN if tool.name == card.canonical)
        return exposed(own, name, self._profile.exposures.get(name, Exposure()))

    def reader(self) -> str:
        """The profile's name for read_file."""
        return next(card.name for card in self._profile.tools if card.canonical == "read_file")

    async def call(self, name: str, **arguments: Any) -> Result:
        """The call's result; what was refused before it began is one too."""
        self._calls += 1
        tool = self.tool(name)
        workspace = Workspace(self.root, roots=self.roots)
        preparing = msgspec.structs.replace(workspace, seen=self.seen, workstream_id="ws_1")
        context = CallContext(
            f"call_{self._calls}", workspace, lambda _: None, workstream_id="ws_1"
        )
        try:
            prepared = tool.prepare(arguments, preparing)
        except BadArguments as refused:
            return Result(str(refused), is_error=True, outcome="error")
        result = await tool.run(prepared, context)
        self.seen = remembered(self.seen, result.seen)
        return result


class World:
    """The files of one case."""

    def __init__(self, root: pathlib.Path, case: dict[str, Any]) -> None:
        self.case = case
        self.root = root / "workspace"
        self.root.mkdir()
        self.roots = kept_roots(load(case.get("profile", "default")).roots, self.root, "")
        self.path = str(case.get("path", "notes.txt"))
        for path, data in self.files("before", "files").items():
            place = self.below(path)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
            if "mode" in case:
                place.chmod(int(str(case["mode"]), 8))
        if "link_to" in case:
            target = self.below(case["link_to"])
            target.parent.mkdir(parents=True, exist_ok=True)
            self.below(self.path).rename(target)
            self.below(self.path).symlink_to(os.path.relpath(target, self.below(self.path).parent))

    def below(self, path: str) -> pathlib.Path:
        """Where it lies: in the workspace, but for what belongs into a root of the profile."""
        for root in self.roots:
            if path.startswith(f"{root.prefix}/"):
                return root.folder / path.removeprefix(f"{root.prefix}/")
        return pathlib.Path(os.path.normpath(self.root / path.lstrip("/")))

    def files(self, key: str, several: str) -> dict[str, bytes]:
        """The bytes that the case names, by path."""
        case = self.case
        if key in case:
            return {self.path: case[key].encode()}
        if f"{key}_base64" in case:
            return {self.path: base64.b64decode(case[f"{key}_base64"])}
        return {path: text.encode() for path, text in case.get(several, {}).items()}

    def now(self) -> dict[str, bytes]:
        """Everything that lies there."""
        places = [(self.root, ""), *((root.folder, f"{root.prefix}/") for root in self.roots)]
        return {
            f"{above}{path.relative_to(folder)}": path.read_bytes()
            for folder, above in places
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }


async def check(case: dict[str, Any], tmp_path: pathlib.Path) -> None:
    """Carry a case out; assert all that it says."""
    world = World(tmp_path, case)
    session = Session(world.root, case.get("profile", "default"))
    if case.get("read", True):
        beyond = {"offset": 10_000} if case.get("read") == "fails" else {}
        for path in world.now():
            await session.call(session.reader(), path=path, **beyond)
    kept: dict[str, str] = {}
    for call in case.get("call", [case]):
        await _one(world, session, call, kept)
    wanted = world.files("after", "after_files")
    if wanted and not ("error" in case and "also_files" in case):
        now = {path: world.below(path).read_bytes() for path in wanted}
        assert now == wanted or (case.get("or_error") and now == world.files("before", "files"))
    for path in case.get("gone", ()):
        assert not world.below(path).exists()
    if "after_mode" in case:
        assert oct(world.below(world.path).stat().st_mode & 0o7777)[2:] == case["after_mode"]
    if case.get("still_link"):
        assert world.below(world.path).is_symlink()


async def _one(world: World, session: Session, call: dict[str, Any], kept: dict[str, str]) -> None:
    path = str(call.get("path", world.path))
    place = world.below(path)
    if "change" in call:
        place.write_text(call["change"], newline="")
    if call.get("touch"):
        os.utime(place, (1, 1))
    before = world.now()
    arguments = {
        key: kept[value[1:]] if isinstance(value, str) and value.startswith("$apply") else value
        for key, value in call["args"].items()
    }
    tool = world.case["tool"]
    if tool != "apply_patch":
        arguments["path"] = str(place) if tool == "edit" else path
    result = await session.call(tool, **arguments)
    if "error" in call:
        also = call.get("also_files")
        if also and not result.is_error:
            assert world.now() == {name: text.encode() for name, text in also.items()}
            return
        assert result.is_error, result.output
        assert re.search(KINDS[call["error"]], result.output), result.output
        assert world.now() == before
        return
    assert not result.is_error or world.case.get("or_error"), result.output
    if "keeps" in call:
        kept[call["keeps"]] = msgspec.json.decode(result.output)[call["keeps"]]
    if "still" in call:
        assert place.read_text() == call["still"]
    if "match" in call:
        assert msgspec.json.decode(result.output)["match"] == call["match"]
