"""Keeps secrets: sets, lists, revokes, seals all anew under the active key."""

from collections.abc import Callable

import msgspec

from redshank_console.services.admin_audit import AdminAudit
from redshank_shared.domain.errors import Conflict, Misconfigured, NotFound
from redshank_shared.stores.database import Database
from redshank_shared.stores.paging import checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.stores.secrets import SecretRow, Secrets
from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.sealing import NONCE_BYTES, Sealed, Vault
from redshank_shared.vault.slots import CHECK_SLOT, checked_slot, checked_value
from redshank_shared.wire.secret_views import RotationView, SecretView
from redshank_shared.wire.views import PageView

_MOST_ATTEMPTS = 20


class SecretKeeping:
    """A change is written down with who made it. `at`: the present moment, RFC 3339 UTC;
    `randomness(n)`: n random bytes.
    """

    def __init__(
        self,
        database: Database,
        vault: Vault,
        redactor: Redactor,
        audit: AdminAudit,
        at: Callable[[], str],
        randomness: Callable[[int], bytes],
    ) -> None:
        self._database = database
        self._secrets = Secrets(database)
        self._vault = vault
        self._redactor = redactor
        self._audit = audit
        self._at = at
        self._randomness = randomness

    async def page(self, limit: int, cursor: str | None) -> PageView[SecretView]:
        """Slots by name, with their state. Invalid names limit or cursor."""
        after = decode_cursor(cursor, str) if cursor else ""
        rows = [row for row in await self._rows() if row.slot != CHECK_SLOT]
        shown, more = cut([row for row in rows if row.slot > after], checked_limit(limit))
        return PageView(
            items=[_view(row) for row in shown],
            next_cursor=encode_cursor(shown[-1].slot) if more else None,
            total=len(rows),
        )

    async def put(self, slot: str, value: str, by: str) -> SecretView:
        """Fill the slot; the same value again changes nothing. Invalid says what is wrong with the
        name or the value, Conflict with code `vault_without_key` or `vault_key_unknown` that there
        is no master key, or another one than the others are sealed under.
        """
        checked_slot(slot)
        self._redactor.learn(value)
        checked_value(value)
        await self._active_key()
        for _ in range(_MOST_ATTEMPTS):
            before = await self._database.run(self._secrets.find, slot)
            if before is not None and self._opened(before) == value:
                await self._audit.record(by, "secret.set", slot, _version(before))
                return _view(before)
            row = self._sealed(slot, 1 if before is None else before.version + 1, value, by)
            act = self._audit.act(by, "secret.set", slot, _version(row))
            if await self._database.run(self._secrets.put, row, act):
                return _view(row)
        raise _busy(slot)

    async def revoke(
        self, slot: str, by: str, act: str = "secret.revoked", target: str = "", detail: str = ""
    ) -> SecretView:
        """Erase the value; who asks for it from now on is refused. NotFound where there is none.

        It is written down as this act on this target, which is the slot where none is named.
        """
        checked_slot(slot)
        for _ in range(_MOST_ATTEMPTS):
            before = await self._database.run(self._secrets.find, slot)
            if before is None:
                raise NotFound(
                    f"no secret was ever set as {slot}; `redshank secrets ls` lists what there is",
                    code="secret_missing",
                    field="slot",
                )
            if before.state == "revoked":
                await self._audit.record(by, act, target or slot, detail or _version(before))
                return _view(before)
            row = SecretRow(slot, "revoked", before.version + 1, "", "", by, self._at())
            said = self._audit.act(by, act, target or slot, detail or _version(row))
            if await self._database.run(self._secrets.put, row, said):
                return _view(row)
        raise _busy(slot)

    async def rotate(self) -> RotationView:
        """Seal every live value anew under the active master key, row by row, while others work.

        Conflict as `put`. What no key of ours opens is left as it is, and named.
        """
        active = await self._active_key()
        resealed: list[str] = []
        left: set[str] = set()
        for _ in range(_MOST_ATTEMPTS):
            behind = [
                row
                for row in await self._rows()
                if row.state == "live" and row.key_id != active and row.slot not in left
            ]
            if not behind:
                break
            for row in behind:
                if await self._resealed(row, left):
                    resealed.append(row.slot)
        shown = [slot for slot in resealed if slot != CHECK_SLOT]
        return RotationView(key_id=active, resealed=shown, left=sorted(left))

    async def _resealed(self, row: SecretRow, left: set[str]) -> bool:
        value = self._opened(row)
        if value is None:
            left.add(row.slot)
            return False
        sealed = self._sealed(row.slot, row.version, value, row.updated_by)
        return await self._database.run(
            self._secrets.reseal, row, Sealed(sealed.key_id, sealed.sealed)
        )

    async def _rows(self) -> list[SecretRow]:
        return await self._database.run(self._secrets.all)

    def _opened(self, row: SecretRow) -> str | None:
        if row.state == "revoked":
            return None
        try:
            value = self._vault.open(row.slot, row.version, Sealed(row.key_id, row.sealed))
        except Misconfigured:
            return None
        if row.slot != CHECK_SLOT:
            self._redactor.learn(value)
        return value

    def _sealed(self, slot: str, version: int, value: str, by: str) -> SecretRow:
        nonce = self._randomness(NONCE_BYTES)
        try:
            sealed = self._vault.seal(slot, version, value, nonce)
        except Misconfigured as error:
            raise _as_conflict(error) from error
        return SecretRow(slot, "live", version, sealed.key_id, sealed.text, by, self._at())

    async def _active_key(self) -> str:
        """Its id, once it is sure that our keys are the vault's."""
        check = await self._database.run(self._secrets.find, CHECK_SLOT)
        try:
            active = self._vault.active_key_id
            if check is not None:
                self._vault.open(CHECK_SLOT, check.version, Sealed(check.key_id, check.sealed))
        except Misconfigured as error:
            raise _as_conflict(error) from error
        return active


def _as_conflict(error: Misconfigured) -> Conflict:
    """The one who asks cannot mend it; the console goes on."""
    return Conflict(error.detail, code=error.code, field=error.field)


def _busy(slot: str) -> Conflict:
    return Conflict(
        f"{slot} is being changed by others again and again; try again",
        code="secret_busy",
        field="slot",
    )


def _version(row: SecretRow) -> str:
    return f"version {row.version}"


def _view(row: SecretRow) -> SecretView:
    values = msgspec.structs.asdict(row)
    del values["sealed"]
    return SecretView(**values)
