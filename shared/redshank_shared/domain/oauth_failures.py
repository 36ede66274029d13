"""What can go wrong between us, an MCP server, the authorization server behind it."""

from redshank_shared.domain.errors import Conflict, NotAllowed, Unavailable

NEEDS_SCOPE = "oauth_requires_scoped_runtime_initialization"


class LoginNeeded(Conflict):
    """A person must log in to the server: there is no account, or it is good for nothing more."""

    code = "oauth_login_needed"


class LoginRefused(Conflict):
    """The login cannot be carried out; nothing was kept of it, no token was sent anywhere."""

    code = "oauth_login_refused"


class ScopedUseOnly(NotAllowed):
    """The server's account may be used only from inside a session that may use it (K-63, K-64)."""

    code = NEEDS_SCOPE


class TokensUnavailable(Unavailable):
    """The authorization server gave no answer of use: the account stays as it is (F13)."""

    code = "oauth_unavailable"


class GrantRefused(Conflict):
    """The authorization server says `invalid_grant`: the refresh token or the code is spent."""

    code = "oauth_grant_refused"
