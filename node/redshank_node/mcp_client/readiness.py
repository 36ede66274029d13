"""Says whether a server may be contacted, by its slots as they are now."""

from typing import Literal

import msgspec

from redshank_node.mcp_client.surroundings import Surroundings
from redshank_shared.domain.errors import Conflict, Misconfigured, NotFound, RedshankError
from redshank_shared.domain.oauth_failures import LoginNeeded, ScopedUseOnly
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.settings.mcp_starting import SlotState, startable

LOOK_AGAIN_SECONDS = 5.0


class Hindrance(msgspec.Struct, frozen=True):
    """Why a server is not contacted; `error` where the configuration is to blame (K-59)."""

    state: Literal["failed", "needs_login", "left_out"]
    why: str
    error: Misconfigured | None = None


async def hindrance(server: McpServer, surroundings: Surroundings) -> Hindrance | None:
    """What stands against contacting it, None if nothing does (K-59, K-61, K-63)."""
    try:
        states = {slot: await _state(slot, surroundings) for slot in server.slots()}
        ready = startable((server,), lambda slot: states[slot])
    except Misconfigured as error:
        return Hindrance("failed", error.detail, error)
    except RedshankError as error:
        return Hindrance("failed", error.detail)
    if ready.left_out:
        return Hindrance("left_out", "a secret of it was revoked")
    return await _login(server, surroundings, states) if server.oauth_slot_ref else None


async def _state(slot: str, surroundings: Surroundings) -> SlotState:
    try:
        return "set" if await surroundings.value(slot) else "empty"
    except NotFound:
        return "missing"
    except Conflict:
        return "revoked"


async def _login(
    server: McpServer, surroundings: Surroundings, states: dict[str, SlotState]
) -> Hindrance | None:
    why = f"nobody has logged in: run `redshank mcp login {server.name}`"
    if states[server.oauth_slot_ref] != "set" or surroundings.authorize is None:
        return Hindrance("needs_login", why)
    try:
        token = await surroundings.authorize(server)
    except (LoginNeeded, ScopedUseOnly) as error:
        return Hindrance("needs_login", error.detail)
    except RedshankError as error:
        return Hindrance("failed", error.detail)
    return Hindrance("needs_login", why) if token is None else None
