"""Reads tools.toml: which tools of a profile are there (C-1 to C-5)."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.mcp_names import server_part
from redshank_shared.permissions.tool_card import MCP_PREFIX
from redshank_shared.profiles.exec_options import ExecOptions
from redshank_shared.profiles.profile import Profile

_EXEC = "exec"
_MCP_TOOL = re.compile(r"mcp__(?P<server>[A-Za-z0-9_-]+?)__[A-Za-z0-9_-]+")
_LONGEST_NAME = 64


class ToolsFile(msgspec.Struct, frozen=True):
    """What the file says, by canonical names, tools of MCP servers by their own. `exec_options` are
    those of its exec table, the defaults where it has none.
    """

    said: Mapping[str, bool] = {}
    exec_options: ExecOptions = ExecOptions()

    def enables(self, canonical: str, *, unlisted: bool) -> bool:
        """Whether the tool is there; `unlisted`: whether one that is not named is."""
        return self.said.get(canonical, unlisted)


def read_tools_file(
    text: str, where: str, profiles: Sequence[Profile], servers: Iterable[str]
) -> ToolsFile:
    """The file's words. A name is known if it is exposed, canonical or an alias in one of the
    profiles, or a tool of one of these MCP servers; Misconfigured names any other with the nearest
    one, even where its value is false (C-2), as it names a wrong value.
    """
    try:
        table = msgspec.toml.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise Misconfigured(f"{where} is not TOML: {error}", code="tools_invalid") from error
    known, servers = _known(profiles), tuple(map(server_part, servers))
    said: dict[str, bool] = {}
    named: dict[str, str] = {}
    exec_options = ExecOptions()
    for name, value in table.items():
        canonical = known.get(name) or _of_a_server(name, servers)
        if canonical is None:
            raise _wrong(where, name, f"is no tool here{_meant(name, known, servers)}")
        if canonical == _EXEC and isinstance(value, dict):
            exec_options = _exec_options(where, name, value)
            value = exec_options.enabled
        if not isinstance(value, bool):
            raise _wrong(where, name, f"is {_shown(value)}; it takes true or false")
        if canonical in named:
            raise _wrong(where, name, f"is the same tool as {named[canonical]}; name it once")
        said[canonical], named[canonical] = value, name
    return ToolsFile(said, exec_options)


def _known(profiles: Sequence[Profile]) -> dict[str, str]:
    """Each name with its canonical one: shown and canonical names before aliases."""
    known: dict[str, str] = {}
    cards = [card for profile in profiles for card in profile.tools]
    for card in cards:
        known.setdefault(card.name, card.canonical)
    for card in cards:
        known.setdefault(card.canonical, card.canonical)
    for card in cards:
        for alias in card.aliases:
            known.setdefault(alias, card.canonical)
    return known


def _of_a_server(name: str, servers: Sequence[str]) -> str | None:
    is_one = len(name) <= _LONGEST_NAME and any(
        name.startswith(f"{MCP_PREFIX}{server}__") and _MCP_TOOL.fullmatch(name)
        for server in servers
    )
    return name if is_one else None


def _exec_options(where: str, name: str, table: Mapping[str, Any]) -> ExecOptions:
    fields = {field.encode_name: field for field in msgspec.structs.fields(ExecOptions)}
    for key, value in table.items():
        if key not in fields:
            raise _wrong(where, f"{name}.{key}", f"is no key{_nearest(key, fields)}")
        try:
            msgspec.convert(value, fields[key].type)
        except msgspec.ValidationError as error:
            words = str(error).replace("`", "")
            raise _wrong(where, f"{name}.{key}", f"is {_shown(value)}: {words}") from error
    return msgspec.convert(dict(table), ExecOptions)


def _wrong(where: str, name: str, what: str) -> Misconfigured:
    return Misconfigured(f"{where}: {name} {what}", code="tools_invalid", field=name)


def _meant(name: str, known: Mapping[str, str], servers: Sequence[str]) -> str:
    if not name.startswith(MCP_PREFIX):
        return _nearest(name, known)
    there = f"; the servers are {', '.join(sorted(servers))}" if servers else "; there is no server"
    return f"{there}: a tool of one is mcp__SERVER__TOOL, of at most {_LONGEST_NAME} characters"


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(sorted(known))}"


def _shown(value: Any) -> str:
    return "a table" if isinstance(value, dict) else repr(value)
