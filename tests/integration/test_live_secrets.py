"""Secrets in a real database: opened by those with the key, as they are at that moment."""

import asyncio
import base64
from pathlib import Path

import pytest

from redshank_shared.domain.errors import Conflict, Misconfigured, NotFound
from redshank_shared.stores.database import Database
from redshank_shared.stores.live_secrets import CHECK_VALUE, LiveSecrets
from redshank_shared.stores.secrets import SecretRow, Secrets
from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.sealing import Sealed, Vault
from redshank_shared.vault.slots import CHECK_SLOT

AT = "2026-11-30T08:15:00.250Z"
NONCE = bytes(range(12))
VALUE = "canary-in-the-database"


def vault_with(*bytes_of_keys: int) -> Vault:
    keys = [base64.b64encode(bytes([byte]) * 32).decode() for byte in bytes_of_keys]
    return Vault(lambda: "\n".join(keys))


class Process:
    """One process's view of the slots."""

    def __init__(self, database: Database, vault: Vault) -> None:
        self.redactor = Redactor()
        self.live = LiveSecrets(database, vault, self.redactor.learn)


def put(database: Database, vault: Vault, value: str, version: int = 1) -> None:
    sealed = vault.seal("model.main", version, value, NONCE)
    row = SecretRow("model.main", "live", version, sealed.key_id, sealed.text, "ana", AT)
    assert Secrets(database).put(row)


def revoke(database: Database, version: int) -> None:
    assert Secrets(database).put(SecretRow("model.main", "revoked", version, "", "", "ana", AT))


def test_a_version_is_written_once(database: Database) -> None:
    secrets = Secrets(database)
    first = SecretRow("model.main", "live", 1, "k", "sealed", "ana", AT)
    assert secrets.find("model.main") is None
    assert secrets.put(first)
    assert not secrets.put(first)
    assert not secrets.put(SecretRow("model.main", "live", 3, "k", "x", "bo", AT))
    assert secrets.find("model.main") == first
    second = SecretRow("model.main", "revoked", 2, "", "", "bo", AT)
    assert secrets.put(second)
    assert secrets.all() == [second]


def test_a_row_is_resealed_only_as_it_was_read(database: Database) -> None:
    secrets = Secrets(database)
    row = SecretRow("model.main", "live", 1, "k1", "old", "ana", AT)
    secrets.put(row)
    assert secrets.reseal(row, Sealed("k2", "new"))
    assert not secrets.reseal(row, Sealed("k3", "newer"))
    assert secrets.find("model.main") == SecretRow("model.main", "live", 1, "k2", "new", "ana", AT)


@pytest.mark.fault("F-12")
async def test_what_is_opened_is_known_to_the_redactor(database: Database) -> None:
    vault = vault_with(1)
    process = Process(database, vault)
    put(database, vault, VALUE)
    assert await process.live.value("model.main") == VALUE
    assert process.redactor.of_log(f"x {VALUE}") == "x ***"


async def test_a_revocation_counts_from_the_next_use_on(database: Database) -> None:
    vault = vault_with(1)
    process = Process(database, vault)
    put(database, vault, VALUE)
    await process.live.value("model.main")
    revoke(database, 2)
    with pytest.raises(Conflict) as refused:
        await process.live.value("model.main")
    assert refused.value.code == "secret_revoked"
    assert "redshank secrets set model.main" in refused.value.detail
    put(database, vault, "canary-set-anew", version=3)
    assert await process.live.value("model.main") == "canary-set-anew"
    assert process.redactor.knows(VALUE)


async def test_an_empty_slot_says_how_to_fill_it(database: Database) -> None:
    with pytest.raises(NotFound) as refused:
        await Process(database, vault_with(1)).live.value("model.main")
    assert refused.value.code == "secret_missing"
    assert "redshank secrets set model.main" in refused.value.detail


async def test_a_secret_that_nobody_here_used_becomes_known(database: Database) -> None:
    vault = vault_with(1)
    process, end = Process(database, vault), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(process.live.run(end))
        put(database, vault, VALUE)
        async with asyncio.timeout(30):
            while not process.redactor.knows(VALUE):  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0.02)
        end.set()


async def test_the_first_process_seals_what_later_ones_check_their_key_with(
    database: Database,
) -> None:
    await Process(database, vault_with(1)).live.check_master_key(AT, NONCE)
    await Process(database, vault_with(2, 1)).live.check_master_key(AT, NONCE)
    row = Secrets(database).find(CHECK_SLOT)
    assert row is not None
    sealed = Sealed(row.key_id, row.sealed)
    assert vault_with(1).open(CHECK_SLOT, row.version, sealed) == CHECK_VALUE


async def test_a_wrong_master_key_is_refused_and_nothing_is_overwritten(
    database: Database,
) -> None:
    vault = vault_with(1)
    await Process(database, vault).live.check_master_key(AT, NONCE)
    put(database, vault, VALUE)
    before = Secrets(database).all()
    with pytest.raises(Misconfigured) as refused:
        await Process(database, vault_with(2)).live.check_master_key(AT, NONCE)
    assert refused.value.code == "vault_key_unknown"
    assert vault.key_ids[0] in refused.value.detail
    assert Secrets(database).all() == before


async def test_a_process_without_a_key_starts_and_cannot_open(database: Database) -> None:
    put(database, vault_with(1), VALUE)
    process = Process(database, vault_with())
    await process.live.check_master_key(AT, NONCE)
    with pytest.raises(Misconfigured) as refused:
        await process.live.value("model.main")
    assert refused.value.code == "vault_key_unknown"
    assert Secrets(database).find(CHECK_SLOT) is None


@pytest.mark.fault("F-12")
def test_the_database_holds_no_open_value(
    tmp_path: Path, database: Database, database_url: str
) -> None:
    put(database, vault_with(1), VALUE)
    if database_url.startswith("sqlite"):
        files = [path for path in tmp_path.iterdir() if path.is_file()]
        assert files
        assert [path for path in files if VALUE.encode() in path.read_bytes()] == []
    row = Secrets(database).find("model.main")
    assert row is not None
    assert VALUE not in repr(row)
