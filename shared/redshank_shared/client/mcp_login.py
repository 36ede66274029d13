"""Logins to MCP servers over HTTP."""

from urllib.parse import quote

import msgspec

from redshank_shared.client.console import ConsoleClient
from redshank_shared.client.views import Page


class NewLogin(msgspec.Struct, frozen=True, omit_defaults=True):
    """A login to begin, as `NewMcpLogin` of the API has it."""

    redirect_uri: str = ""
    client_id: str = ""
    client_secret: str = ""
    scopes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"NewLogin({self.redirect_uri!r})"


class Login(msgspec.Struct, frozen=True):
    """A login that has begun."""

    server: str
    authorization_url: str
    state: str
    expires_at: str


class Came(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the browser brought back."""

    state: str
    code: str = ""
    iss: str = ""
    error: str = ""
    error_description: str = ""

    def __repr__(self) -> str:
        return "Came(***)"


class McpAccount(msgspec.Struct, frozen=True):
    """A server's account, without its tokens."""

    server: str
    slot: str
    state: str
    issuer: str = ""
    resource: str = ""
    client_id: str = ""
    scopes: tuple[str, ...] = ()
    expires_at: str | None = None
    renews: bool = False
    logged_in_at: str = ""
    logged_in_by: str = ""
    needs_login: str = ""
    version: int = 0


class Logout(msgspec.Struct, frozen=True):
    """An account that was ended; `ended_at_server`: its tokens at their server too."""

    server: str
    slot: str
    ended_at_server: bool


class McpLoginClient:
    """Raises as `ConsoleClient` does."""

    def __init__(self, console: ConsoleClient) -> None:
        self._console = console

    def begin(self, server: str, new: NewLogin) -> Login:
        """Begin a login; Conflict where the server or its issuer is not what it says."""
        return self._console.write("POST", f"{_path(server)}/login", new, Login)

    def complete(self, came: Came) -> McpAccount:
        """Finish it; NotFound where it is over."""
        return self._console.write("POST", "/v1/mcp/oauth/complete", came, McpAccount)

    def accounts(self) -> Page[McpAccount]:
        """The accounts of all servers that have one, or could."""
        return self._console.read("/v1/mcp/accounts", Page[McpAccount])

    def account(self, server: str) -> McpAccount:
        """One server's account; NotFound, Conflict for a server without."""
        return self._console.read(f"{_path(server)}/login", McpAccount)

    def renew(self, server: str) -> McpAccount:
        """Have its token renewed now; Conflict where only a login helps."""
        return self._console.write("POST", f"{_path(server)}/login/refresh", {}, McpAccount)

    def log_out(self, server: str) -> Logout:
        """End a server's account; NotFound where there is none."""
        return self._console.write("POST", f"{_path(server)}/logout", {}, Logout)


def _path(server: str) -> str:
    return f"/v1/mcp/servers/{quote(server, safe='')}"
