"""What an MCP server answered, as records without a connection."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec

from redshank_node.mcp_client.inventory import Inventory
from redshank_shared.settings.mcp_server import McpServer


class TextContent(msgspec.Struct, frozen=True):
    """Words."""

    text: str


class ImageContent(msgspec.Struct, frozen=True):
    """An image; `data` is base64 as it came, maybe damaged."""

    data: str
    media_type: str = ""


class AudioContent(msgspec.Struct, frozen=True):
    """Sound; `data` is base64 as it came, maybe damaged."""

    data: str
    media_type: str = ""


class ResourceLink(msgspec.Struct, frozen=True):
    """Where something lies that can be read."""

    uri: str
    name: str = ""
    description: str = ""
    media_type: str = ""


class EmbeddedResource(msgspec.Struct, frozen=True):
    """A resource itself: `text`, or where that is None `blob` in base64 as it came."""

    uri: str
    text: str | None = None
    blob: str = ""
    media_type: str = ""


Content = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource


class Called(msgspec.Struct, frozen=True):
    """An answer, neither bounded nor labelled. A resource that was read is EmbeddedResource items;
    of a prompt, `roles` has who says each item of `content`.
    """

    content: tuple[Content, ...] = ()
    structured: Any = None
    is_error: bool = False
    roles: tuple[str, ...] = ()


class Servers(Protocol):
    """The MCP servers of a node, as those who offer them to turns ask them. A request raises an
    McpFailure.
    """

    @property
    def revision(self) -> int:
        """Grows with every change of any inventory or state."""

    @property
    def follows(self) -> bool:
        """Whether `inventories` are what servers say now."""

    def inventories(self) -> Mapping[str, Inventory]:
        """What each server offers that is connected, or comes back soon."""

    def said(self, name: str) -> Inventory | None:
        """All that a server said last, of which `inventories` may show what it said before (C-55);
        None while it has not been there.
        """

    def record(self, name: str) -> McpServer | None:
        """The server as the operator describes it; None where there is none (any more)."""

    def asleep(self) -> tuple[str, ...]:
        """The servers with an account that no session has called yet, where that is needed before
        they are contacted (K-63).
        """

    async def wake(self, server: str) -> None:
        """A session that may use the server calls it: contact it."""

    async def call(
        self,
        server: str,
        tool: str,
        arguments: dict[str, Any],
        timeout_seconds: float,
        on_progress: Callable[[str], None] | None,
        is_same: Callable[[], bool] | None,
    ) -> Called:
        """The answer to a tool call, sent once. `tool`: the server's own name of it; `is_same` is
        asked last of all whether the tool is still what was decided on.
        """

    async def read_resource(self, server: str, uri: str, timeout_seconds: float) -> Called:
        """What a resource holds."""

    async def get_prompt(
        self, server: str, name: str, arguments: dict[str, str], timeout_seconds: float
    ) -> Called:
        """A prompt, filled in."""
