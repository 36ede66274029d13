"""Says in our words what the library says in its."""

import mcp_types
from mcp import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from redshank_node.mcp_client.calling import (
    AudioContent,
    Content,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

_UNSUPPORTED = "Unsupported protocol version from the server: "
_CLOSED = ("Connection closed", "SSE stream ended", "SSE stream failed")


def is_closed(error: MCPError) -> bool:
    """Whether the library itself gave the request up, for its connection or stream ended."""
    return error.code == mcp_types.CONNECTION_CLOSED and error.message.startswith(_CLOSED)


def why(error: BaseException) -> str:
    """The cause of a failure, of the first one in a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, MCPError):
        return str(error.message)
    if isinstance(error, ValidationError):
        return misfit(error)
    text = str(error)
    if text.startswith(_UNSUPPORTED):
        return (
            f"it speaks the protocol version {text.removeprefix(_UNSUPPORTED)}; this node speaks "
            f"{HANDSHAKE_PROTOCOL_VERSIONS[0]} to {MODERN_PROTOCOL_VERSIONS[-1]}: bring the server "
            "up to date"
        )
    return text or type(error).__name__


def misfit(error: ValidationError) -> str:
    """What is wrong with an answer, without the answer."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"its answer is not what the protocol says: {place}: {first['msg']}"[:500]


def content_of(block: mcp_types.ContentBlock) -> Content:
    """A piece of an answer as a record of ours."""
    match block:
        case mcp_types.TextContent():
            return TextContent(block.text)
        case mcp_types.ImageContent():
            return ImageContent(block.data, block.mime_type)
        case mcp_types.AudioContent():
            return AudioContent(block.data, block.mime_type)
        case mcp_types.ResourceLink():
            return ResourceLink(
                block.uri, block.name, block.description or "", block.mime_type or ""
            )
        case mcp_types.EmbeddedResource():
            return resource_of(block.resource)


def resource_of(
    resource: mcp_types.TextResourceContents | mcp_types.BlobResourceContents,
) -> EmbeddedResource:
    """The contents of a resource as a record of ours."""
    media_type = resource.mime_type or ""
    if isinstance(resource, mcp_types.TextResourceContents):
        return EmbeddedResource(resource.uri, text=resource.text, media_type=media_type)
    return EmbeddedResource(resource.uri, blob=resource.blob, media_type=media_type)
