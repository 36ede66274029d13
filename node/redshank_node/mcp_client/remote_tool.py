"""Makes a tool of a turn from what an MCP server offers."""

from collections.abc import Callable
from typing import Any

import msgspec

from redshank_node.mcp_client.as_said import SaidNow, digest
from redshank_node.mcp_client.bounded import Form
from redshank_node.mcp_client.calling import Servers
from redshank_node.mcp_client.harmless import bounded_text, harmless, one_line
from redshank_node.mcp_client.inventory import RemoteTool
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
from redshank_shared.domain.bindings import SCHEMA
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
    `live`: whether turns are shown what servers say now, so that a tool is called only as long as
    its server describes it so; `redact` keeps secrets out of what servers say of themselves.
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

    said = SaidNow(servers, server.name, remote.name)
    described_as = digest(remote)

    async def run(prepared: Prepared, context: CallContext) -> Result:
        held = prepared.arguments.get(SCHEMA, described_as)
        if not said.is_still(held):
            return Result(_otherwise(server.name, remote.name), is_error=True, outcome="error")
        answer = servers.call(
            server.name,
            remote.name,
            prepared.arguments["arguments"],
            min(server.tool_timeout_sec, context.max_seconds),
            lambda text: context.emit(one_line(text, _MOST_PROGRESS_CHARACTERS) + "\n"),
            lambda: said.is_still(held),
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
        described=described_as,
        origin=_origin(server.name, remote, manner.redact),
        as_said=None if manner.live else _AsSaid(said, server.name, manner.redact).of,
    )


class _AsSaid:
    """A tool with what its server says of it now; its surface stays."""

    def __init__(self, said: SaidNow, server: str, redact: Callable[[str], str]) -> None:
        self._said = said
        self._server = server
        self._redact = redact

    def of(self, tool: Tool) -> Tool:
        """The tool as of this moment, run as long as that holds."""
        remote, run = self._said.remote(), tool.run
        held = self._said.digest() or tool.described
        origin = tool.origin
        if remote is not None and held != tool.described:
            origin = _origin(self._server, remote, self._redact)

        async def run_held(prepared: Prepared, context: CallContext) -> Result:
            arguments = {**prepared.arguments, SCHEMA: held}
            return await run(msgspec.structs.replace(prepared, arguments=arguments), context)

        return msgspec.structs.replace(
            tool, described=held, origin=origin, run=run_held, as_said=None
        )


def _origin(server: str, remote: RemoteTool, redact: Callable[[str], str]) -> Origin:
    """What the server says of the tool, as far as it is shown."""
    described = bounded_text(redact(remote.description), MOST_DESCRIPTION_CHARACTERS)
    try:
        schema = harmless(
            msgspec.json.encode(
                _redacted(usable(remote.input_schema), redact), order="sorted"
            ).decode()
        )
    except Unusable as wrong:
        schema = f"(not shown: {wrong})"
    return Origin(server, remote.name, described, schema)


def _otherwise(server: str, tool: str) -> str:
    return (
        f"not run: MCP server {server} describes {one_line(tool, 128)} otherwise since this turn "
        "began; a person is asked about it in the next turn"
    )


def destination(server: McpServer) -> Destination:
    """Where a call to this server goes, for the credential scope (K-68)."""
    named = server.slots() or server.bearer_token_env_var or server.env_http_headers
    given = any(is_sensitive_name(key) for key in (*server.env, *server.headers))
    return Destination(server.name, bool(named or given))


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
