"""What HTTP clients send about logins to MCP servers, what they get: never a token back."""

from typing import Annotated, Literal

from pydantic import Field

from redshank_shared.wire.requests import Body, Text, Word
from redshank_shared.wire.views import View

Address = Annotated[Text, Field(max_length=2048)]
Code = Annotated[Text, Field(max_length=16384, repr=False)]


class NewMcpLogin(Body):
    """A login to begin. `redirect_uri`: a command line's own address on this machine, without it
    the console's; `client_id`: a client that the authorization server's operator made, without it
    one is registered; `scopes`: asked for beside those of the settings.
    """

    redirect_uri: Address = ""
    client_id: Address = ""
    client_secret: Code = ""
    scopes: Annotated[tuple[Word, ...], Field(max_length=100)] = ()


class McpLoginView(View):
    """A login that has begun. `authorization_url`: where the person's browser goes, once."""

    server: str
    authorization_url: str
    state: str
    expires_at: str


class McpLoginAnswer(Body):
    """What came back with the browser to a command line's own address."""

    state: Annotated[Text, Field(max_length=200, repr=False)]
    code: Code = ""
    iss: Address = ""
    error: Text = ""
    error_description: Text = ""


class McpAccountView(View):
    """A server's account, as much of it as may be read. `state` is `none` before the first login;
    `needs_login` says why a person must log in again; `version` counts the changes.
    """

    server: str
    slot: str
    state: Literal["none", "live", "needs_login", "revoked"]
    issuer: str = ""
    resource: str = ""
    client_id: str = ""
    scopes: list[str] = []
    expires_at: str | None = None
    renews: bool = False
    logged_in_at: str = ""
    logged_in_by: str = ""
    needs_login: str = ""
    version: int = 0


class McpLogoutView(View):
    """`ended_at_server`: whether the authorization server ended the tokens too."""

    server: str
    slot: str
    ended_at_server: bool
