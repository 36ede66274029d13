"""Knows who asks: by token, by the page's cookie, by a sign-in link's code."""

import hashlib
import hmac
from collections.abc import Callable
from pathlib import Path

from redshank_console.services.admin_audit import AdminAudit
from redshank_console.services.principal import Principal
from redshank_shared.domain.access import ALL_SCOPES, SCOPES_OF, in_order
from redshank_shared.domain.errors import Conflict, Invalid, Misconfigured, Unauthenticated
from redshank_shared.stores.database import Database
from redshank_shared.stores.tokens import Holder, TokenKind, TokenRow, Tokens
from redshank_shared.stores.users import UserRow, Users

LINK_SECONDS = 15 * 60
SESSION_SECONDS = 30 * 24 * 3600
FIRST_ADMIN = "admin"
# Of the token in console.admin_token_file, whatever it is.
FIRST_TOKEN_ID = "tok_0000000000000000000000"
_SHORTEST_TOKEN = 16

SIGN_IN_MEND = (
    "send the header `Authorization: Bearer TOKEN` (the first admin's is in DATA/admin.token), "
    "or sign in with the link that `redshank signin` prints"
)


class SignIn:
    """Nothing is remembered: what was revoked is refused at the next request (F72).

    `seconds`: since 1970; `at`: the same, RFC 3339 UTC; `new_secret`: a fresh random text.
    """

    def __init__(  # noqa: PLR0913 - what it stands on, named once
        self,
        database: Database,
        tokens: Tokens,
        users: Users,
        audit: AdminAudit,
        seconds: Callable[[], float],
        at: Callable[[], str],
        new_secret: Callable[[], str],
    ) -> None:
        self._database = database
        self._tokens = tokens
        self._users = users
        self._audit = audit
        self._seconds = seconds
        self._at = at
        self._new_secret = new_secret

    async def bearer(self, token: str) -> Principal | None:
        """Whom an API token stands for, if it is valid."""
        return await self._principal(token, "api")

    async def session(self, cookie: str) -> Principal | None:
        """Whom the page's cookie stands for, if it is valid."""
        return await self._principal(cookie, "session")

    async def adopt_admin_token(self, path: Path) -> None:
        """Let the token in this file stand for the first admin, who is made where there is none; a
        token that stood there before ends (F72). Misconfigured where it cannot be read.
        """
        token = _token_in(path)
        at = self._at()
        first = UserRow(FIRST_ADMIN, "admin", "active", "console", at, at)
        act = self._audit.act("console", "user.created", FIRST_ADMIN, "role admin, the first")
        await self._database.run(self._users.create, first, act)
        row = TokenRow(
            hash_of(token),
            "api",
            FIRST_ADMIN,
            "admin",
            token_id=FIRST_TOKEN_ID,
            scopes=tuple(in_order(ALL_SCOPES)),
            label="console.admin_token_file",
            created_by="console",
        )
        await self._database.run(self._tokens.replace, row)

    async def new_link_code(self, who: Principal, name: str = "") -> tuple[str, float]:
        """A code that signs one browser in, once, as `who` or as the user of this name, with no
        more than `who` may; when it ends (seconds since 1970). Invalid for a user who may not come
        in; Conflict where nobody signs in.
        """
        if not who.credential:
            raise Conflict(
                'console.auth is "off": nobody signs in, open the console\'s address as it is',
                code="no_sign_in",
            )
        role, scopes = who.role, who.scopes
        if name and name != who.name:
            user = await self._database.run(self._users.find, name)
            if user is None or user.state != "active":
                raise Invalid(f"there is no active user {name}", code="no_such_user", field="name")
            role, scopes = user.role, who.scopes & SCOPES_OF[user.role]
        code = self._new_secret()
        parent_ends = await self._end_of(who.token_id)
        ends = min(self._seconds() + LINK_SECONDS, parent_ends)
        row = TokenRow(
            hash_of(code),
            "signin",
            name or who.name,
            role,
            ends,
            who.token_id,
            tuple(in_order(scopes)),
            created_by=who.name,
        )
        act = self._audit.act(who.name, "signin_link.made", row.name)
        await self._database.run(self._tokens.mint, row, act)
        return code, ends

    async def redeem(self, code: str | None, token: str | None) -> tuple[str, Principal]:
        """A new session's secret for a link's code or an API token, with its scopes, which ends no
        later than the token; Unauthenticated.
        """
        if (code is None) == (token is None):
            raise Invalid("send either code or token", field="code")
        holder = await self._credential(code, token)
        if holder is None:
            raise Unauthenticated(
                "this is not valid, or was used already; run `redshank signin` for a new link, "
                "or paste the admin token",
                code="signin_refused",
                field="token" if code is None else "code",
            )
        secret = self._new_secret()
        parent_ends = await self._end_of(holder.token_id)
        session = TokenRow(
            hash_of(secret),
            "session",
            holder.name,
            holder.role,
            min(self._seconds() + SESSION_SECONDS, parent_ends),
            holder.token_id,
            tuple(in_order(holder.scopes)),
            created_by=holder.name,
        )
        await self._database.run(self._tokens.begin_session, session)
        return secret, _principal(holder, by_cookie=True, credential=session.token_hash)

    async def sign_out(self, cookie: str) -> None:
        """End the session; nothing where there is none."""
        await self._database.run(self._tokens.revoke, hash_of(cookie))

    async def _credential(self, code: str | None, token: str | None) -> Holder | None:
        hashed = hash_of((token if code is None else code) or "")
        holder = await self._database.run(self._tokens.holder, hashed)
        if holder is None or holder.kind != ("api" if code is None else "signin"):
            return None
        if code is None:
            return holder
        return holder if await self._database.run(self._tokens.take, hashed) else None

    async def _end_of(self, token_id: str) -> float:
        """When the API token ends from which something is made; nothing outlives it."""
        if not token_id:
            return float("inf")
        parent = await self._database.run(self._tokens.of_id, token_id)
        if parent is None:
            raise Unauthenticated("the token that this comes from is revoked; use another")
        return float("inf") if parent.expires_at is None else parent.expires_at

    async def _principal(self, secret: str, kind: TokenKind) -> Principal | None:
        hashed = hash_of(secret)
        holder = await self._database.run(self._tokens.holder, hashed)
        if holder is None or holder.kind != kind:
            return None
        if not hmac.compare_digest(holder.token_hash, hashed):
            return None
        return _principal(holder, by_cookie=kind == "session", credential=hashed)


def hash_of(secret: str) -> str:
    """What is stored of a secret; secrets are random and long, so one round is enough."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def _principal(holder: Holder, *, by_cookie: bool, credential: str) -> Principal:
    return Principal(
        holder.name, holder.role, holder.scopes, by_cookie, holder.token_id, credential
    )


def _token_in(path: Path) -> str:
    try:
        token = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(
            f"the admin token cannot be read from {path} ({error}); "
            f"name a file that holds one with console.admin_token_file",
            field="console.admin_token_file",
        ) from error
    if len(token) < _SHORTEST_TOKEN:
        raise Misconfigured(
            f"the admin token in {path} has fewer than {_SHORTEST_TOKEN} characters; "
            f"write a longer one, such as `openssl rand -hex 32` prints",
            field="console.admin_token_file",
        )
    return token
