"""The only door to the MCP library: loaded once a server is there, by `loading`."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import mcp_types
from mcp import Client, MCPError
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from redshank_node.mcp_client.backoff import delay_seconds
from redshank_node.mcp_client.calling import Called
from redshank_node.mcp_client.connecting import Discovered, NotExecuted, Signals
from redshank_node.mcp_client.connection_door import Door
from redshank_node.mcp_client.connection_http import for_library, over_http
from redshank_node.mcp_client.connection_questions import answer_with_defaults
from redshank_node.mcp_client.connection_stdio import over_stdio
from redshank_node.mcp_client.connection_words import (
    content_of,
    is_closed,
    misfit,
    resource_of,
    why,
)
from redshank_node.mcp_client.failures import (
    McpFailure,
    OutcomeUnknown,
    ProtocolFailure,
    ServerUnavailable,
)
from redshank_node.mcp_client.inventory import Inventory
from redshank_node.mcp_client.listing import (
    Listed,
    listed,
    prompt_of,
    template_of,
    tool_of,
)
from redshank_node.mcp_client.listing import (
    resource_of as listed_resource_of,
)
from redshank_node.mcp_client.surroundings import Surroundings
from redshank_node.mcp_client.traffic import LIST_KEYS, Traffic
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.wire.version import VERSION

# Its own lines would show what servers sent, and its exceptions: ours say what happened.
for _name in ("mcp", "client", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)

_UNKNOWN = "the connection ended before the answer; what the request did is not known"
_LONGEST_PROGRESS = 500
_STEPS = 20
_LONGEST_ERROR = 2000
_TOOL_ANSWER: TypeAdapter[mcp_types.CallToolResult | mcp_types.InputRequiredResult] = TypeAdapter(
    mcp_types.CallToolResult | mcp_types.InputRequiredResult
)
_RESOURCE_ANSWER: TypeAdapter[mcp_types.ReadResourceResult | mcp_types.InputRequiredResult] = (
    TypeAdapter(mcp_types.ReadResourceResult | mcp_types.InputRequiredResult)
)
_PROMPT_ANSWER: TypeAdapter[mcp_types.GetPromptResult | mcp_types.InputRequiredResult] = (
    TypeAdapter(mcp_types.GetPromptResult | mcp_types.InputRequiredResult)
)


async def _all_heard() -> None:
    """Answers that have come are on their way to those who wait, by a few steps of the loop."""
    for _ in range(_STEPS):
        await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def open_connection(
    server: McpServer, surroundings: Surroundings, signals: Signals
) -> AsyncIterator["LiveConnection"]:
    """See `Opener`."""
    if server.transport == "http":
        traffic = Traffic(signals, for_library)
        door = Door(server, surroundings, signals, traffic.verdicts)
        streams: Any = over_http(server, surroundings, traffic, door)
    else:
        traffic = Traffic(signals)
        streams = over_stdio(server, surroundings, traffic, signals)
    client = Client(
        streams,
        client_info=mcp_types.Implementation(name="redshank", version=VERSION),
        elicitation_callback=answer_with_defaults if server.questions == "defaults" else None,
        cache=None,
    )
    live: LiveConnection | None = None
    failure: Exception | None = None
    try:
        async with client:
            live = LiveConnection(server.name, client, traffic, surroundings, signals)
            try:
                yield live
                await _all_heard()
            except Exception as error:  # noqa: BLE001 - handed on, past the library's own groups
                failure = error
            finally:
                live.end()
    except Exception as error:  # noqa: BLE001 - whatever the library raises is told in our words
        cause = _cause(error)
        if live is None:
            raise ServerUnavailable(server.name, surroundings.redact(cause)) from None
        signals.lost(cause)
    if failure is not None:
        raise failure


def _cause(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error.cause if isinstance(error, McpFailure) else why(error)


class LiveConnection:
    """See `Connection`."""

    def __init__(
        self,
        server: str,
        client: Client,
        traffic: Traffic,
        surroundings: Surroundings,
        signals: Signals,
    ) -> None:
        self._server = server
        self._client = client
        self._traffic = traffic
        self._surroundings = surroundings
        self._signals = signals
        self._in_flight: set[asyncio.Timeout] = set()
        self._ended = False

    def end(self) -> None:
        """Nothing more is sent; whatever waits for an answer learns that none comes."""
        self._ended = True
        for scope in tuple(self._in_flight):
            scope.reschedule(0)

    @property
    def answers(self) -> int:
        """See `Connection`."""
        return self._traffic.answers

    async def ping(self) -> None:
        """See `Connection`. From 2026-07-28 on there is no ping any more."""
        version = self._client.protocol_version
        if version in MODERN_PROTOCOL_VERSIONS:
            await self._guarded(lambda: self._client.session.send_discover(version))
        else:
            await self._ask(mcp_types.PingRequest(), TypeAdapter(mcp_types.EmptyResult), None)

    async def discover(self) -> Discovered:
        """See `Connection`."""
        has = self._client.server_capabilities
        info = self._client.server_info
        tools, resources, templates, prompts = Listed(), Listed(), Listed(), Listed()
        incomplete = ""
        if has.tools is not None:
            tools = await self._listed("tools/list", mcp_types.ListToolsRequest, tool_of)
        try:
            if has.resources is not None:
                resources = await self._listed(
                    "resources/list", mcp_types.ListResourcesRequest, listed_resource_of
                )
                templates = await self._templates()
            if has.prompts is not None:
                prompts = await self._listed(
                    "prompts/list", mcp_types.ListPromptsRequest, prompt_of
                )
        except (ProtocolFailure, OutcomeUnknown) as error:
            incomplete = error.cause
        lists = (tools, resources, templates, prompts)
        inventory = Inventory(
            server=self._server,
            protocol=self._client.protocol_version,
            title="" if info is None else info.title or info.name,
            instructions=self._client.instructions or "",
            tools=tuple(tools.items),
            resources=tuple(resources.items),
            templates=tuple(templates.items),
            prompts=tuple(prompts.items),
            dropped=tuple(dropped for one in lists for dropped in one.dropped),
        )
        for one in lists:
            if one.stopped:
                self._signals.warned(one.stopped)
        return Discovered(inventory, incomplete)

    async def call_tool(
        self, tool: str, arguments: dict[str, Any], on_progress: Callable[[str], None] | None
    ) -> Called:
        """See `Connection`."""
        params = mcp_types.CallToolRequestParams(name=tool, arguments=arguments)
        result = await self._ask(
            mcp_types.CallToolRequest(params=params), _TOOL_ANSWER, on_progress
        )
        return Called(
            tuple(content_of(block) for block in result.content),
            self._traffic.set_aside(result.structured_content),
            result.is_error,
        )

    async def read_resource(self, uri: str) -> Called:
        """See `Connection`."""
        params = mcp_types.ReadResourceRequestParams(uri=uri)
        result = await self._ask(
            mcp_types.ReadResourceRequest(params=params), _RESOURCE_ANSWER, None
        )
        return Called(tuple(resource_of(one) for one in result.contents))

    async def get_prompt(self, name: str, arguments: dict[str, str]) -> Called:
        """See `Connection`."""
        params = mcp_types.GetPromptRequestParams(name=name, arguments=arguments)
        result = await self._ask(mcp_types.GetPromptRequest(params=params), _PROMPT_ANSWER, None)
        return Called(
            tuple(content_of(message.content) for message in result.messages),
            roles=tuple(message.role for message in result.messages),
        )

    async def listen(self) -> None:
        """See `Connection`. Servers of the handshake era tell changes unasked."""
        has, failures = self._client.server_capabilities, 0
        if self._client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        while not self._ended:
            try:
                async with self._client.listen(
                    tools_list_changed=has.tools is not None,
                    prompts_list_changed=has.prompts is not None,
                    resources_list_changed=has.resources is not None,
                ) as subscription:
                    failures = 0
                    async for _ in subscription:
                        self._signals.list_changed()
            except ListenNotSupportedError:
                return
            except MCPError as error:
                if error.code == mcp_types.METHOD_NOT_FOUND:
                    return
            except (SubscriptionLost, TimeoutError, RuntimeError):
                pass
            failures += 1
            await asyncio.sleep(delay_seconds(failures, self._surroundings.random))
            # What was said meanwhile is not said again.
            self._signals.list_changed()

    async def _templates(self) -> Listed:
        try:
            return await self._listed(
                "resources/templates/list", mcp_types.ListResourceTemplatesRequest, template_of
            )
        except ProtocolFailure:
            # Many servers that have resources have never heard of templates.
            return Listed()

    async def _listed(
        self, method: str, request: Callable[..., Any], read: Callable[[dict[str, Any]], Any]
    ) -> Listed:
        async def page(cursor: str | None) -> dict[str, Any]:
            params = mcp_types.PaginatedRequestParams(cursor=cursor) if cursor else None
            self._traffic.pages.pop(method, None)
            try:
                if method == "tools/list":
                    await self._guarded(lambda: self._client.session.list_tools(params=params))
                else:
                    await self._ask(request(params=params), TypeAdapter(mcp_types.Result), None)
            except ProtocolFailure:
                # The library judges also what is around the list; the page itself is here.
                if method not in self._traffic.pages:
                    raise
            return self._traffic.pages.pop(method, {})

        return await listed(page, LIST_KEYS[method], read)

    async def _ask(
        self,
        request: mcp_types.ClientRequest,
        answer: TypeAdapter[Any],
        on_progress: Callable[[str], None] | None,
    ) -> Any:
        progress = None if on_progress is None else _Progress(on_progress, self._surroundings)
        result = await self._guarded(
            lambda: self._client.session.send_request(request, answer, progress_callback=progress)
        )
        if isinstance(result, mcp_types.InputRequiredResult):
            why_not = "it asks for input in the middle of the request, which nobody here gives"
            raise ProtocolFailure(self._server, why_not)
        return result

    async def _guarded(self, send: Callable[[], Awaitable[Any]]) -> Any:
        """The answer, unless the connection ends first, or the answer is an error."""
        if self._ended or self._traffic.is_closed:
            raise NotExecuted("its connection ended")
        try:
            async with asyncio.timeout(None) as scope:
                self._in_flight.add(scope)
                try:
                    return await send()
                finally:
                    self._in_flight.discard(scope)
        except TimeoutError:
            raise OutcomeUnknown(self._server, _UNKNOWN) from None
        except MCPError as error:
            raise self._told(error) from None
        except ValidationError as error:
            raise ProtocolFailure(self._server, misfit(error)) from None
        except RuntimeError:
            # The client was left before the request got to it.
            raise NotExecuted("its connection ended") from None

    def _told(self, error: MCPError) -> Exception:
        cause = self._surroundings.redact(str(error.message)[: _LONGEST_ERROR * 2])[:_LONGEST_ERROR]
        kind = self._traffic.verdicts.kind_of(error.data)
        if kind in ("not_executed", "expired"):
            return NotExecuted(cause, expired=kind == "expired")
        if kind == "unknown":
            return OutcomeUnknown(self._server, f"{cause}; what the request did is not known")
        if kind == "refused":
            return ProtocolFailure(self._server, cause)
        if is_closed(error):
            return OutcomeUnknown(self._server, _UNKNOWN)
        return ProtocolFailure(self._server, f"it answers with error {error.code}: {cause}")


class _Progress:
    """Tells how far a call is, as text."""

    def __init__(self, tell: Callable[[str], None], surroundings: Surroundings) -> None:
        self._tell = tell
        self._redact = surroundings.redact

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        share = f"{progress:g}" if total is None else f"{progress:g}/{total:g}"
        text = f"{share} {message}" if message else share
        self._tell(self._redact(text[: _LONGEST_PROGRESS * 2])[:_LONGEST_PROGRESS])
