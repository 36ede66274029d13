"""What MCP servers offer, as records without a connection."""

from typing import Any, Literal

import msgspec

ServerState = Literal["connecting", "connected", "failed", "needs_login", "left_out", "disabled"]


class RemoteTool(msgspec.Struct, frozen=True):
    """A tool as its server describes it. `name` is the server's own; what it says is untrusted."""

    name: str
    description: str = ""
    input_schema: dict[str, Any] = {}
    output_schema: dict[str, Any] | None = None
    title: str = ""


class RemoteResource(msgspec.Struct, frozen=True):
    """A resource, or a template of resources where `is_template`: then `uri` has {variables}."""

    uri: str
    name: str = ""
    description: str = ""
    media_type: str = ""
    is_template: bool = False


class PromptArgument(msgspec.Struct, frozen=True):
    """An argument of a prompt; its values are strings (T-76)."""

    name: str
    description: str = ""
    required: bool = False


class RemotePrompt(msgspec.Struct, frozen=True):
    """A prompt that a server can fill in."""

    name: str
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()


class Dropped(msgspec.Struct, frozen=True):
    """What a server offered and nobody can use, with the reason."""

    name: str
    why: str


class Inventory(msgspec.Struct, frozen=True):
    """All that a server offered when it was asked last. `protocol`: the version in use;
    `instructions` as the server wrote them, neither bounded nor labelled; `not_enabled`: how many
    tools `enabled_tools` or `disabled_tools` leave out.
    """

    server: str
    protocol: str = ""
    title: str = ""
    instructions: str = ""
    tools: tuple[RemoteTool, ...] = ()
    resources: tuple[RemoteResource, ...] = ()
    templates: tuple[RemoteResource, ...] = ()
    prompts: tuple[RemotePrompt, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    not_enabled: int = 0


class ServerStatus(msgspec.Struct, frozen=True):
    """How a server is on this node. `since`: RFC 3339 UTC of the last change of `state`;
    `latency_ms`: of its last calls, the median; `hour_`: in the last hour; `warnings`: lines that
    were no message, its last words on stderr, bounded and redacted.
    """

    name: str
    state: ServerState
    transport: Literal["stdio", "http"]
    since: str
    detail: str = ""
    protocol: str = ""
    tools: int = 0
    resources: int = 0
    templates: int = 0
    prompts: int = 0
    calls: int = 0
    errors: int = 0
    hour_calls: int = 0
    hour_errors: int = 0
    latency_ms: float | None = None
    reconnects: int = 0
    warnings: tuple[str, ...] = ()


class Changed(msgspec.Struct, frozen=True):
    """What a refresh found (T-73): names of tools, of prompts, URIs of resources and templates.
    `failed`: why nothing could be found out, empty where it could.
    """

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    failed: str = ""


def changed(before: Inventory, after: Inventory) -> Changed:
    """What is new in `after`, what is gone since `before`."""
    old, new = _names(before), _names(after)
    return Changed(
        tuple(name for name in new if name not in old),
        tuple(name for name in old if name not in new),
    )


def _names(inventory: Inventory) -> dict[str, None]:
    names = [tool.name for tool in inventory.tools]
    names += [prompt.name for prompt in inventory.prompts]
    names += [resource.uri for resource in (*inventory.resources, *inventory.templates)]
    return dict.fromkeys(names)
