"""An MCP server as the operator describes it, with every contradiction refused (K-58, K-59)."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, NoReturn

import msgspec

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.mcp_names import check_servers
from redshank_shared.settings.mcp_shown import shown

Seconds = Annotated[float, msgspec.Meta(gt=0)]

OAUTH_SLOTS = "mcp.oauth."
# The transport sets them itself; another value would break or forge a session (C-52).
_TRANSPORT_HEADERS = frozenset(
    (
        "accept",
        "connection",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "mcp-protocol-version",
        "mcp-session-id",
        "transfer-encoding",
    )
)
_STDIO_FIELDS = ("args", "env", "env_secret_refs", "inherit_env", "cwd", "sandbox")
_HTTP_FIELDS = (
    "headers",
    "env_http_headers",
    "http_header_secret_refs",
    "bearer_token_env_var",
    "bearer_token_secret_ref",
    "oauth_slot_ref",
    "oauth_resource",
    "oauth_scopes",
)
_HEADER_SOURCES = ("headers", "env_http_headers", "http_header_secret_refs")


class McpServer(msgspec.Struct, frozen=True):
    """One server: `command` started here, or `url` asked over HTTP.

    Slots are names (`*_ref`, `*_refs`), never values. `enabled_tools` None: all but
    `disabled_tools`. `plan_tools` may be used in plan mode, on the operator's word alone (O2).
    `sandbox` confines a command; empty is inherited, not at all. `questions`: what the server asks
    in a call (elicitation) is refused, or answered with the defaults that it names itself.
    """

    name: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    env_secret_refs: dict[str, str] = {}
    inherit_env: bool | None = None
    cwd: str = ""
    sandbox: Literal["", "inherited", "read_only", "workspace_write", "network_enabled"] = ""
    url: str = ""
    headers: dict[str, str] = {}
    env_http_headers: dict[str, str] = {}
    http_header_secret_refs: dict[str, str] = {}
    bearer_token_env_var: str = ""
    bearer_token_secret_ref: str = ""
    oauth_slot_ref: str = ""
    oauth_resource: str = ""
    oauth_scopes: tuple[str, ...] = ()
    enabled: bool = True
    required: bool = False
    enabled_tools: tuple[str, ...] | None = None
    disabled_tools: tuple[str, ...] = ()
    plan_tools: tuple[str, ...] = ()
    questions: Literal["refuse", "defaults"] = "refuse"
    startup_timeout_sec: Seconds = 10.0
    tool_timeout_sec: Seconds = 120.0

    @property
    def transport(self) -> Literal["stdio", "http"]:
        """How it is reached; a checked server has exactly one way."""
        return "http" if self.url else "stdio"

    @property
    def inherits_environment(self) -> bool:
        """Whether a command gets the node's environment; with secret slots it never does (K-60)."""
        return not self.env_secret_refs and self.inherit_env is not False

    def slots(self) -> dict[str, str]:
        """The field that names each slot, by slot."""
        found = {slot: f"env_secret_refs.{key}" for key, slot in self.env_secret_refs.items()}
        for key, slot in self.http_header_secret_refs.items():
            found[slot] = f"http_header_secret_refs.{key}"
        for field in ("bearer_token_secret_ref", "oauth_slot_ref"):
            if getattr(self, field):
                found[getattr(self, field)] = field
        return found

    def __repr__(self) -> str:
        return f"McpServer({shown(msgspec.structs.asdict(self))!r})"


def check(servers: tuple[McpServer, ...]) -> None:
    """Return when every server can be started as it is described; else Misconfigured names server,
    field and mend.
    """
    check_servers(server.name for server in servers)
    for server in servers:
        _check_transport(server)
        if server.transport == "stdio":
            _check_stdio(server)
        else:
            _check_http(server)
        _check_slots(server)


def _check_transport(server: McpServer) -> None:
    if server.command and server.url:
        _refuse(server, "url", "has command and url: keep the one that is meant")
    if not server.command and not server.url:
        _refuse(server, "command", "has neither command nor url: give it one (O17)")
    wrong, kind = (_HTTP_FIELDS, "a command") if server.command else (_STDIO_FIELDS, "an address")
    for field in wrong:
        if getattr(server, field) not in ("", (), {}, None):
            _refuse(server, field, f"is {kind}, for which {field} means nothing: take it out")


def _check_stdio(server: McpServer) -> None:
    if server.env_secret_refs and server.inherit_env:
        why = "has env_secret_refs, so that it gets no other environment: take out inherit_env"
        _refuse(server, "inherit_env", why)
    for key in server.env:
        if key in server.env_secret_refs:
            _refuse(server, f"env.{key}", f"has {key} in env and in env_secret_refs: keep one")


def _check_http(server: McpServer) -> None:
    if not server.url.startswith(("https://", "http://")):
        _refuse(server, "url", "has a url that is neither https:// nor http://")
    bearer = server.bearer_token_secret_ref or server.bearer_token_env_var
    if server.bearer_token_secret_ref and server.bearer_token_env_var:
        _refuse(server, "bearer_token_env_var", "has two bearer tokens: keep one")
    if bearer and server.oauth_slot_ref:
        _refuse(server, "oauth_slot_ref", "has a bearer token and OAuth: keep one")
    if not server.oauth_slot_ref and (server.oauth_scopes or server.oauth_resource):
        _refuse(server, "oauth_slot_ref", "has OAuth fields without oauth_slot_ref: name its slot")
    seen: dict[str, str] = {}
    for field, header in _headers(server):
        lower = header.lower()
        if lower in _TRANSPORT_HEADERS:
            _refuse(server, field, f"sets {header}, which the transport sets itself: take it out")
        if lower == "authorization" and (bearer or server.oauth_slot_ref):
            why = f"sets {header} beside a bearer token or OAuth, which set it: keep one"
            _refuse(server, field, why)
        other = seen.setdefault(lower, field)
        if other != field:
            _refuse(server, field, f"sets {header} in {other} too: keep one")


def _headers(server: McpServer) -> Iterator[tuple[str, str]]:
    for source in _HEADER_SOURCES:
        for header in getattr(server, source):
            yield f"{source}.{header}", header


def _check_slots(server: McpServer) -> None:
    for field, slot in _plain_slots(server):
        if not slot.startswith("mcp."):
            _refuse(server, field, f"names the slot {slot!r}: slots of MCP servers begin with mcp.")
        if slot.startswith(OAUTH_SLOTS):
            # It holds what renews the account, which would go to the server as it is (F66, K-71).
            why = f"names the slot {slot!r}: an account is used by oauth_slot_ref alone"
            _refuse(server, field, why)
    if server.oauth_slot_ref and not server.oauth_slot_ref.startswith(OAUTH_SLOTS):
        why = f"names the slot {server.oauth_slot_ref!r}: OAuth accounts lie below {OAUTH_SLOTS}"
        _refuse(server, "oauth_slot_ref", why)


def _plain_slots(server: McpServer) -> Iterator[tuple[str, str]]:
    """Each field that hands a slot's value on, with the slot."""
    for source in ("env_secret_refs", "http_header_secret_refs"):
        for key, slot in getattr(server, source).items():
            yield f"{source}.{key}", slot
    if server.bearer_token_secret_ref:
        yield "bearer_token_secret_ref", server.bearer_token_secret_ref


def _refuse(server: McpServer, field: str, why: str) -> NoReturn:
    raise Misconfigured(
        f"MCP server {server.name} {why}",
        code="mcp_misconfigured",
        field=f"mcp.servers.{server.name}.{field}",
    )


def public_fields(server: McpServer) -> dict[str, Any]:
    """The server as a dump or an API may show it: values of secrets masked (K-62)."""
    return shown(msgspec.structs.asdict(server))
