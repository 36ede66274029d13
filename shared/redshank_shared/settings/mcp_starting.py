"""What an MCP server needs from its surroundings to start: its slots, its environment."""

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import msgspec

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.mcp_server import McpServer

SlotState = Literal["set", "missing", "empty", "revoked"]


class Startable(msgspec.Struct, frozen=True):
    """Servers to start, and the names of those left out because a slot of theirs was revoked."""

    servers: tuple[McpServer, ...]
    left_out: tuple[str, ...]


def startable(servers: Iterable[McpServer], state_of: Callable[[str], SlotState]) -> Startable:
    """The enabled servers. One whose slot was revoked is left out without an error (K-61); a slot
    that is missing or empty is Misconfigured (K-59).
    """
    ready: list[McpServer] = []
    left_out: list[str] = []
    for server in servers:
        if not server.enabled:
            continue
        states = {slot: state_of(slot) for slot in server.slots()}
        if "revoked" in states.values():
            left_out.append(server.name)
            continue
        for slot, state in states.items():
            # An OAuth account comes with its login, which needs the server to be known (K-63).
            if state in ("missing", "empty") and slot != server.oauth_slot_ref:
                raise Misconfigured(
                    f"MCP server {server.name}: the slot {slot} is {state}: "
                    f"run `redshank secrets set {slot}`",
                    code="mcp_slot_missing",
                    field=f"mcp.servers.{server.name}.{server.slots()[slot]}",
                )
        ready.append(server)
    return Startable(tuple(ready), tuple(left_out))


def without(servers: Iterable[McpServer], failed: Mapping[str, str]) -> tuple[McpServer, ...]:
    """The servers that are there after a start in which some failed (why, by name): the others go
    on without them, but a required one that failed is Misconfigured (O18).
    """
    there = []
    for server in servers:
        why = failed.get(server.name)
        if why is not None and server.required:
            raise Misconfigured(
                f"MCP server {server.name} is required, and did not start: {why}; mend it, or set "
                "required = false to start without it",
                code="mcp_required_failed",
                field=f"mcp.servers.{server.name}",
            )
        if why is None:
            there.append(server)
    return tuple(there)


def child_environment(
    server: McpServer, inherited: Mapping[str, str], value_of: Callable[[str], str]
) -> dict[str, str]:
    """The whole environment of a server's command. With secret slots: `env` and what they resolve
    to, nothing else (K-60). `inherited`: what a child of this process may see.
    """
    resolved = {key: value_of(slot) for key, slot in server.env_secret_refs.items()}
    around = dict(inherited) if server.inherits_environment else {}
    return {**around, **server.env, **resolved}
