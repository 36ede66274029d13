"""Carries out what admins do to users or tokens, each act written down with it."""

import re
from collections.abc import Callable
from datetime import UTC, datetime

from redshank_console.services.admin_audit import AdminAudit
from redshank_console.services.kept_answers import KeptAnswers, entry_of
from redshank_console.services.orders import Answer
from redshank_console.services.principal import Principal
from redshank_console.services.sign_in import FIRST_TOKEN_ID, hash_of
from redshank_shared.clock import rfc3339
from redshank_shared.domain.access import (
    SCOPES_OF,
    Role,
    TokenScope,
    UserState,
    in_order,
)
from redshank_shared.domain.errors import Conflict, Invalid, NotAllowed, NotFound
from redshank_shared.domain.ids import checked_id, new_id
from redshank_shared.session_commands import KeyedRequest
from redshank_shared.stores.database import Database
from redshank_shared.stores.idempotency import IdempotencyRace
from redshank_shared.stores.paging import Page
from redshank_shared.stores.tokens import ListedToken, TokenRow, Tokens
from redshank_shared.stores.users import UserRow, Users
from redshank_shared.wire.access_views import (
    MintedTokenView,
    TokenView,
    UserView,
)
from redshank_shared.wire.views import PageView

SECRET_PREFIX = "rsk_"
# Names that stand in logs for what is nobody.
_RESERVED = frozenset(("local", "console", "clock", "node", "system", "redshank"))
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


class Accounts:
    """`seconds`: since 1970; `at`: the same, RFC 3339 UTC; `new_secret`: a fresh random text;
    `now_ms` with `randomness` make ids.
    """

    def __init__(  # noqa: PLR0913 - what it stands on, named once
        self,
        database: Database,
        users: Users,
        tokens: Tokens,
        audit: AdminAudit,
        kept: KeptAnswers,
        seconds: Callable[[], float],
        at: Callable[[], str],
        new_secret: Callable[[], str],
        now_ms: Callable[[], int],
        randomness: Callable[[int], bytes],
    ) -> None:
        self._database = database
        self._users = users
        self._tokens = tokens
        self._audit = audit
        self._kept = kept
        self._seconds = seconds
        self._at = at
        self._new_secret = new_secret
        self._now_ms = now_ms
        self._randomness = randomness

    async def users(
        self, state: UserState | None, limit: int, cursor: str | None
    ) -> PageView[UserView]:
        """A page of users, by name."""
        page = await self._database.run(self._users.page, state, limit, cursor)
        items = [_user_view(row) for row in page.items]
        return PageView(items=items, next_cursor=page.next_cursor, total=page.total)

    async def create_user(
        self, by: Principal, name: str, role: Role, keyed: KeyedRequest | None
    ) -> Answer:
        """201 and a new user, who may come in; Invalid (`name`), Conflict where there is one."""
        earlier = await self._kept.earlier(keyed)
        if earlier is not None:
            return earlier
        at = self._at()
        row = UserRow(_checked_name(name), role, "active", by.name, at, at)
        answer = Answer(201, _user_view(row).model_dump_json())
        act = self._audit.act(by.name, "user.created", name, f"role {role}")
        try:
            is_new = await self._database.run(self._users.create, row, act, entry_of(keyed, answer))
        except IdempotencyRace:
            is_new = False
        if is_new:
            return answer
        # The same request may have been the one that took the name.
        earlier = await self._kept.earlier(keyed)
        if earlier is None:
            raise Conflict(
                f"there is a user {name} already; PATCH /v1/users/{name} changes role or state",
                code="user_exists",
                field="name",
            )
        return earlier

    async def change_user(
        self, by: Principal, name: str, role: Role | None, state: UserState | None
    ) -> UserView:
        """Another role or state, from the user's next request on. A change of state ends all of
        their tokens, all sessions. NotFound; Invalid; Conflict for the last active admin.
        """
        if role is None and state is None:
            raise Invalid("name what to change: role, state or both", field="role")
        changed = [f"role {role}"] if role else []
        changed += [f"state {state}"] if state else []
        kind = "user.revoked" if state == "revoked" else "user.changed"
        act = self._audit.act(by.name, kind, name, ", ".join(changed))
        row = await self._database.run(self._users.change, name, role, state, self._at(), act)
        return _user_view(row)

    async def remove_user(self, by: Principal, name: str) -> None:
        """Take the user out for good; NotFound; Conflict for the last active admin."""
        act = self._audit.act(by.name, "user.removed", name)
        await self._database.run(self._users.remove, name, act)

    async def tokens(self, name: str | None, limit: int, cursor: str | None) -> PageView[TokenView]:
        """A page of API tokens, the newest first, of one user or all."""
        page: Page[ListedToken] = await self._database.run(self._tokens.page, name, limit, cursor)
        items = [_token_view(token) for token in page.items]
        return PageView(items=items, next_cursor=page.next_cursor, total=page.total)

    async def mint(
        self,
        by: Principal,
        name: str,
        scopes: tuple[TokenScope, ...] | None,
        label: str,
        expires_in_seconds: int | None,
    ) -> MintedTokenView:
        """A new token with its secret, which is shown this once, for oneself or another user.

        Never more than the minter's own (F71): NotAllowed for a scope that they lack, or for an end
        after theirs. Invalid for a user who may not come in, or for a scope beyond the user's role.
        """
        user = await self._active(name or by.name)
        held = by.scopes & SCOPES_OF[user.role]
        wanted = held if scopes is None else frozenset(scopes)
        _refuse_wider(by, user, wanted)
        ends = await self._end(by, expires_in_seconds)
        secret = SECRET_PREFIX + self._new_secret()
        token_id = new_id("tok", self._now_ms(), self._randomness(8))
        row = TokenRow(
            hash_of(secret),
            "api",
            user.name,
            user.role,
            ends,
            token_id,
            tuple(in_order(wanted)),
            label,
            by.name,
        )
        said = ", ".join(row.scopes)
        detail = f"for {user.name}: {said}" + (f", until {_rfc(ends)}" if ends else "")
        act = self._audit.act(by.name, "token.minted", token_id, detail)
        view = _token_view(await self._database.run(self._tokens.mint, row, act))
        return MintedTokenView(**view.model_dump(), token=secret)

    async def revoke(self, by: Principal, token_id: str) -> None:
        """End a token with every session that came from it; NotFound; Conflict for the token of the
        console's file, which would come back.
        """
        checked_id("tok", token_id, "id")
        if token_id == FIRST_TOKEN_ID:
            raise Conflict(
                "this token stands in console.admin_token_file: write another one there, start the "
                "console again, and this one ends",
                code="token_in_file",
                field="id",
            )
        act = self._audit.act(by.name, "token.revoked", token_id)
        if not await self._database.run(self._tokens.revoke_id, token_id, act):
            raise NotFound(
                f"there is no token {token_id}: GET /v1/tokens lists them (`redshank tokens ls`)",
                code="no_such_token",
                field="id",
            )

    async def _active(self, name: str) -> UserRow:
        user = await self._database.run(self._users.find, name)
        if user is None or user.state != "active":
            raise Invalid(
                f"there is no active user {name}: `redshank users ls` lists them",
                code="no_such_user",
                field="name",
            )
        return user

    async def _end(self, by: Principal, expires_in_seconds: int | None) -> float | None:
        own = await self._database.run(self._tokens.of_id, by.token_id) if by.token_id else None
        latest = None if own is None else own.expires_at
        if expires_in_seconds is None:
            return latest
        ends = self._seconds() + expires_in_seconds
        if latest is not None and ends > latest:
            raise NotAllowed(
                f"your own token ends at {_rfc(latest)}: no token that you make may end later",
                code="wider_than_yours",
                field="expires_in_seconds",
            )
        return ends


def _refuse_wider(by: Principal, user: UserRow, wanted: frozenset[TokenScope]) -> None:
    if not wanted:
        raise Invalid("name at least one scope", field="scopes")
    if beyond := in_order(wanted - by.scopes):
        raise NotAllowed(
            f"you lack {', '.join(beyond)} yourself, so you cannot give it: leave it out",
            code="wider_than_yours",
            field="scopes",
        )
    if beyond := in_order(wanted - SCOPES_OF[user.role]):
        raise Invalid(
            f"{user.name} is {user.role} and may not {', '.join(beyond)}: leave it out, or change "
            f"the role first",
            code="wider_than_the_role",
            field="scopes",
        )


def _checked_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise Invalid(
            "name must be 1 to 64 letters, digits or . _ @ -, a letter or digit first",
            field="name",
        )
    if name.lower() in _RESERVED:
        raise Invalid(f"{name} stands for what is no person; take another", field="name")
    return name


def _user_view(row: UserRow) -> UserView:
    return UserView(
        name=row.name,
        role=row.role,
        state=row.state,
        created_by=row.created_by,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _token_view(token: ListedToken) -> TokenView:
    return TokenView(
        id=token.token_id,
        name=token.name,
        scopes=in_order(token.scopes),
        label=token.label,
        created_by=token.created_by,
        created_at=_rfc(token.created_at),
        expires_at=None if token.expires_at is None else _rfc(token.expires_at),
        expired=token.expired,
    )


def _rfc(seconds: float) -> str:
    return rfc3339(datetime.fromtimestamp(seconds, UTC))
