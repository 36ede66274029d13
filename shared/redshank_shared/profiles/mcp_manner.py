"""How a profile takes what MCP servers offer."""

from typing import Literal

import msgspec

Transport = Literal["stdio", "http"]


class McpManner(msgspec.Struct, frozen=True):
    """`inventory`: as each server offers it now (live), as it was when the server was first there
    (boot: a server that is added later joins), as all were when the node started (fixed).
    `on_collision`, `on_failure`: whether a node whose default profile this is starts with two tools
    of one name or a name that is too long, the later left out (skip), without a server that did not
    start (degrade). `transports`: whose tools are offered. `results`: bounded text, or content
    blocks as JSON (C-54); `instructions`: where a server's own go, behind the system prompt or
    behind each of its tools' descriptions. `accounts`: when a server with an OAuth account is
    contacted on a node whose default profile this is, at its start (boot), or once a session that
    may use it calls it (scoped, K-63).
    """

    inventory: Literal["live", "boot", "fixed"] = "live"
    on_collision: Literal["skip", "fatal"] = "skip"
    on_failure: Literal["degrade", "fatal"] = "degrade"
    transports: tuple[Transport, ...] = ("stdio", "http")
    results: Literal["text", "json"] = "text"
    instructions: Literal["note", "descriptions"] = "note"
    accounts: Literal["boot", "scoped"] = "boot"
