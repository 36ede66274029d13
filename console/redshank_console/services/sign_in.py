"""Knows who asks: by token, by the page's cookie, by a sign-in link's code."""

import hashlib
import hmac
from collections.abc import Callable
from pathlib import Path

import msgspec

from redshank_shared.domain.errors import Invalid, Misconfigured, Unauthenticated
from redshank_shared.stores.database import Database
from redshank_shared.stores.tokens import TokenKind, TokenRow, Tokens

LINK_SECONDS = 15 * 60
SESSION_SECONDS = 30 * 24 * 3600
REMEMBERED_SECONDS = 2.0
_MOST_REMEMBERED = 4096
_SHORTEST_TOKEN = 16

SIGN_IN_MEND = (
    "send the header `Authorization: Bearer TOKEN` (the first admin's is in DATA/admin.token), "
    "or sign in with the link that `redshank signin` prints"
)


class Principal(msgspec.Struct, frozen=True):
    """Who asks, and what they may: `role` is admin or another name."""

    name: str
    role: str
    by_cookie: bool = False


LOCAL = Principal("local", "admin")


class SignIn:
    """Look-ups are remembered for 2 s, so a token that was revoked counts that long at most.

    `seconds`: since 1970; `monotonic`: on a steady clock; `new_secret`: a fresh random text.
    """

    def __init__(
        self,
        database: Database,
        tokens: Tokens,
        seconds: Callable[[], float],
        monotonic: Callable[[], float],
        new_secret: Callable[[], str],
    ) -> None:
        self._database = database
        self._tokens = tokens
        self._seconds = seconds
        self._monotonic = monotonic
        self._new_secret = new_secret
        self._remembered: dict[tuple[str, str], tuple[float, Principal | None]] = {}

    async def bearer(self, token: str) -> Principal | None:
        """Whom an API token stands for, if it is valid."""
        return await self._principal(token, "api")

    async def session(self, cookie: str) -> Principal | None:
        """Whom the page's cookie stands for, if it is valid."""
        return await self._principal(cookie, "session")

    async def adopt_admin_token(self, path: Path) -> None:
        """Let the token in this file act as admin; Misconfigured where it cannot be read."""
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
        row = TokenRow(hash_of(token), "api", "admin", "admin")
        await self._database.run(self._tokens.put, row)

    async def new_link_code(self, who: Principal) -> tuple[str, float]:
        """A code that signs one browser in as `who`, once; when it ends (seconds since 1970)."""
        code, ends = self._new_secret(), self._seconds() + LINK_SECONDS
        row = TokenRow(hash_of(code), "signin", who.name, who.role, ends)
        await self._database.run(self._tokens.put, row)
        return code, ends

    async def redeem(self, code: str | None, token: str | None) -> tuple[str, Principal]:
        """A new session's secret for a link's code or an API token; Unauthenticated."""
        if (code is None) == (token is None):
            raise Invalid("send either code or token", field="code")
        row = await self._row_of(code, token)
        if row is None:
            raise Unauthenticated(
                "this is not valid, or was used already; run `redshank signin` for a new link, "
                "or paste the admin token",
                code="signin_refused",
                field="token" if code is None else "code",
            )
        secret = self._new_secret()
        ends = self._seconds() + SESSION_SECONDS
        session = TokenRow(hash_of(secret), "session", row.name, row.role, ends)
        await self._database.run(self._tokens.put, session)
        return secret, Principal(row.name, row.role, by_cookie=True)

    async def sign_out(self, cookie: str) -> None:
        """End the session; nothing where there is none."""
        self._remembered.pop((hash_of(cookie), "session"), None)
        await self._database.run(self._tokens.revoke, hash_of(cookie))

    async def _row_of(self, code: str | None, token: str | None) -> TokenRow | None:
        if code is not None:
            hashed = hash_of(code)
            row = await self._database.run(self._tokens.find, hashed)
            if row is None or row.kind != "signin":
                return None
            return await self._database.run(self._tokens.take, hashed)
        row = await self._database.run(self._tokens.find, hash_of(token or ""))
        return row if row is not None and row.kind == "api" else None

    async def _principal(self, secret: str, kind: TokenKind) -> Principal | None:
        hashed = hash_of(secret)
        now = self._monotonic()
        remembered = self._remembered.get((hashed, kind))
        if remembered is not None and remembered[0] > now:
            return remembered[1]
        row = await self._database.run(self._tokens.find, hashed)
        principal = None
        if row is not None and row.kind == kind and hmac.compare_digest(row.token_hash, hashed):
            principal = Principal(row.name, row.role, by_cookie=kind == "session")
        if len(self._remembered) >= _MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[hashed, kind] = (now + REMEMBERED_SECONDS, principal)
        return principal


def hash_of(secret: str) -> str:
    """What is stored of a secret; secrets are random and long, so one round is enough."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()
