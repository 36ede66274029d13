"""What a node's MCP servers offer, as the registry keeps it."""

from typing import Any, Literal

import msgspec

MOST_BYTES = 1024 * 1024
_MOST_TITLE = 200
_MOST_DESCRIPTION = 2048
_MOST_INSTRUCTIONS = 4096
_MOST_SCHEMA_BYTES = 32 * 1024
_SHORT_DESCRIPTION = 120

Origin = Literal["settings", "added"]


class ListedTool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool. `name`: the server's own; `exposed`: what models call it."""

    name: str
    exposed: str
    title: str = ""
    description: str = ""
    input_schema: dict[str, Any] = {}


class ListedResource(msgspec.Struct, frozen=True, omit_defaults=True):
    """A resource, or a template of resources."""

    uri: str
    name: str = ""
    description: str = ""
    media_type: str = ""
    is_template: bool = False


class ListedArgument(msgspec.Struct, frozen=True, omit_defaults=True):
    """An argument of a prompt."""

    name: str
    description: str = ""
    required: bool = False


class ListedPrompt(msgspec.Struct, frozen=True, omit_defaults=True):
    """A prompt; `exposed`: what `use_prompt` calls it."""

    name: str
    exposed: str
    description: str = ""
    arguments: tuple[ListedArgument, ...] = ()


class ListedDrop(msgspec.Struct, frozen=True):
    """What nobody can use, with the reason."""

    name: str
    why: str


class ListedServer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A server with what it offered last. `record`: its fields, secrets masked."""

    name: str
    origin: Origin
    record: dict[str, Any]
    protocol: str = ""
    title: str = ""
    instructions: str = ""
    tools: tuple[ListedTool, ...] = ()
    resources: tuple[ListedResource, ...] = ()
    prompts: tuple[ListedPrompt, ...] = ()
    dropped: tuple[ListedDrop, ...] = ()
    warnings: tuple[str, ...] = ()


class NodeCatalogue(msgspec.Struct, frozen=True):
    """All servers of a node. `cut`: something was left out, so that MOST_BYTES hold."""

    servers: tuple[ListedServer, ...] = ()
    cut: bool = False


_encoder = msgspec.json.Encoder()
_decode = msgspec.json.Decoder(NodeCatalogue).decode


def encode_catalogue(servers: tuple[ListedServer, ...]) -> str:
    """The catalogue in at most MOST_BYTES: texts bounded, then schemas, then descriptions left out,
    then whatever stands last.
    """
    bounded = tuple(_bounded(server) for server in servers)
    for cut in (_whole, _without_schemas, _names_only):
        kept = tuple(cut(server) for server in bounded)
        encoded = _encoder.encode(NodeCatalogue(kept, cut=cut is not _whole))
        if len(encoded) <= MOST_BYTES:
            return encoded.decode()
    return _encoder.encode(NodeCatalogue(_first(kept), cut=True)).decode()


def decode_catalogue(text: str) -> NodeCatalogue:
    """The catalogue of a registry's row; an empty one where it cannot be read."""
    try:
        return _decode(text) if text else NodeCatalogue()
    except msgspec.DecodeError:
        return NodeCatalogue()


def _bounded(server: ListedServer) -> ListedServer:
    return msgspec.structs.replace(
        server,
        title=server.title[:_MOST_TITLE],
        instructions=server.instructions[:_MOST_INSTRUCTIONS],
        tools=tuple(_bounded_tool(tool) for tool in server.tools),
        resources=tuple(
            msgspec.structs.replace(
                each, name=each.name[:_MOST_TITLE], description=each.description[:_MOST_DESCRIPTION]
            )
            for each in server.resources
        ),
        prompts=tuple(
            msgspec.structs.replace(each, description=each.description[:_MOST_DESCRIPTION])
            for each in server.prompts
        ),
    )


def _bounded_tool(tool: ListedTool) -> ListedTool:
    return msgspec.structs.replace(
        tool,
        title=tool.title[:_MOST_TITLE],
        description=tool.description[:_MOST_DESCRIPTION],
        input_schema=tool.input_schema if _fits(tool.input_schema) else {},
    )


def _fits(schema: dict[str, Any]) -> bool:
    try:
        return len(_encoder.encode(schema)) <= _MOST_SCHEMA_BYTES
    except RecursionError:
        return False


def _whole(server: ListedServer) -> ListedServer:
    return server


def _without_schemas(server: ListedServer) -> ListedServer:
    return msgspec.structs.replace(
        server,
        tools=tuple(
            ListedTool(tool.name, tool.exposed, tool.title, tool.description[:_SHORT_DESCRIPTION])
            for tool in server.tools
        ),
        resources=tuple(
            ListedResource(each.uri, each.name, "", each.media_type, each.is_template)
            for each in server.resources
        ),
        prompts=tuple(
            ListedPrompt(each.name, each.exposed, each.description[:_SHORT_DESCRIPTION])
            for each in server.prompts
        ),
    )


def _names_only(server: ListedServer) -> ListedServer:
    bare = ListedServer(server.name, server.origin, server.record, server.protocol, server.title)
    return msgspec.structs.replace(
        bare,
        tools=tuple(ListedTool(tool.name, tool.exposed) for tool in server.tools),
        prompts=tuple(ListedPrompt(each.name, each.exposed) for each in server.prompts),
    )


def _first(servers: tuple[ListedServer, ...]) -> tuple[ListedServer, ...]:
    """The servers with as many of their names as fit, the earlier ones before the later."""
    left = MOST_BYTES - 1024
    found: list[ListedServer] = []
    for server in servers:
        size = len(_encoder.encode(server))
        if size > left:
            server = ListedServer(server.name, server.origin, {})
            size = len(_encoder.encode(server))
        if size > left:
            break
        left -= size + 1
        found.append(server)
    return tuple(found)
