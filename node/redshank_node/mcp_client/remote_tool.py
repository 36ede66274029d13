"""Makes a tool of a turn from what an MCP server offers."""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec

from redshank_node.mcp_client.bounded import Form
from redshank_node.mcp_client.calling import Servers
from redshank_node.mcp_client.harmless import bounded_text, harmless, one_line
from redshank_node.mcp_client.inventory import Inventory, RemoteTool
from redshank_node.mcp_client.remote_arguments import checked
from redshank_node.mcp_client.remote_result import result_of
from redshank_node.mcp_client.remote_schema import Unusable, usable
from redshank_node.tools.tool import (
    CallContext,
    Destination,
    Origin,
    Prepared,
    Result,
    Tool,
    Workspace,
)
from redshank_shared.domain.events import Preview
from redshank_shared.domain.masking import is_sensitive_name
from redshank_shared.domain.mcp_names import qualified
from redshank_shared.settings.mcp_server import McpServer

MOST_DESCRIPTION_CHARACTERS = 2048
_MOST_PREVIEW_CHARACTERS = 16_384
_MOST_PROGRESS_CHARACTERS = 512
# The call ends by itself before it is stopped from outside, so that it still says how.
ROOM_SECONDS = 10.0


class Manner(msgspec.Struct, frozen=True):
    """How a profile's remote tools look. `instructions`: what stands behind the description;
    `live`: whether a tool is called only as long as its server describes it so; `redact` keeps
    secrets out of what servers say of themselves.
    """

    results: Form = "text"
    instructions: str = ""
    live: bool = True
    redact: Callable[[str], str] = str


def made_of(server: McpServer, remote: RemoteTool, servers: Servers, manner: Manner) -> Tool:
    """The tool under its qualified name (T-71). Raises Misconfigured for a name that is too long,
    Unusable where no model can be given its schema.
    """
    schema = _redacted(usable(remote.input_schema), manner.redact)
    described = bounded_text(manner.redact(remote.description), MOST_DESCRIPTION_CHARACTERS)
    name = qualified(server.name, remote.name)
    to = destination(server)

    def prepare(arguments: dict[str, Any], _: Workspace) -> Prepared:
        sent = checked(arguments, schema)
        shown = msgspec.json.format(msgspec.json.encode(sent), indent=2).decode()
        title = f"{server.name}: {one_line(remote.name, 128)}"
        preview = Preview(title, "json", bounded_text(shown, _MOST_PREVIEW_CHARACTERS))
        return Prepared({"arguments": sent}, preview, goes_to=to)

    as_described = _AsDescribed(servers, server.name, remote)

    async def run(prepared: Prepared, context: CallContext) -> Result:
        if manner.live and not as_described.still():
            return Result(
                f"not run: MCP server {server.name} describes {one_line(remote.name, 128)} "
                "otherwise since this turn began; a person is asked about it in the next turn",
                is_error=True,
                outcome="error",
            )
        seconds = min(server.tool_timeout_sec, context.max_seconds)
        answer = servers.call(
            server.name,
            remote.name,
            prepared.arguments["arguments"],
            seconds,
            lambda text: context.emit(one_line(text, _MOST_PROGRESS_CHARACTERS) + "\n"),
        )
        return await result_of(answer, server.name, name, context, manner.results)

    return Tool(
        name=name,
        description=_described(server.name, described, manner.instructions),
        parameters=schema,
        effect="mcp",
        prepare=prepare,
        run=run,
        primary_key=next(iter(schema["properties"]), "input"),
        parallel=True,
        plan=remote.name in server.plan_tools,
        timeout_seconds=server.tool_timeout_sec + ROOM_SECONDS,
        described=digest(remote),
        origin=Origin(
            server.name,
            remote.name,
            described,
            harmless(msgspec.json.encode(schema, order="sorted").decode()),
        ),
    )


class _AsDescribed:
    """Whether the server says of a tool what a turn that keeps it was told (F64). One that is not
    there any more is the server's to refuse.
    """

    def __init__(self, servers: Servers, server: str, remote: RemoteTool) -> None:
        self._servers = servers
        self._server = server
        self._remote = remote
        self._seen: Inventory | None = None

    def still(self) -> bool:
        """As of now; what was looked through once is not looked through again."""
        there = self._servers.inventories().get(self._server)
        if there is None or there is self._seen:
            return True
        # Of two with one name the first is the one that turns are offered.
        now = next((each for each in there.tools if each.name == self._remote.name), None)
        if now is not None and not self._is_same(now):
            return False
        self._seen = there
        return True

    def _is_same(self, other: RemoteTool) -> bool:
        try:
            return other is self._remote or digest(other) == digest(self._remote)
        except Unusable:
            return False


def destination(server: McpServer) -> Destination:
    """Where a call to this server goes, for the credential scope (K-68)."""
    named = server.slots() or server.bearer_token_env_var or server.env_http_headers
    given = any(is_sensitive_name(key) for key in (*server.env, *server.headers))
    return Destination(server.name, bool(named or given))


def digest(remote: RemoteTool) -> str:
    """Names all that the server says of the tool; Unusable where it cannot be read to its end."""
    try:
        said = msgspec.json.encode([remote.description, remote.input_schema], order="sorted")
    except (RecursionError, UnicodeEncodeError, TypeError, ValueError) as error:
        raise Unusable(f"its description is no JSON ({type(error).__name__})") from error
    return "sha256:" + hashlib.sha256(said).hexdigest()


def _described(server: str, described: str, instructions: str) -> str:
    """What a model reads: whose words these are comes first (K-70)."""
    said = f"[Tool of the MCP server {server}, in its own words] {described}".rstrip()
    return f"{said}\n{instructions}" if instructions else said


def _redacted(schema: dict[str, Any], redact: Callable[[str], str]) -> dict[str, Any]:
    text = msgspec.json.encode(schema).decode()
    clean = redact(text)
    if clean == text:
        return schema
    try:
        return msgspec.json.decode(clean, type=dict[str, Any])
    except msgspec.DecodeError:
        raise Unusable("a secret stands in its schema") from None
