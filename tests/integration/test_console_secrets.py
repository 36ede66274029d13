"""`/v1/secrets` and `redshank secrets` against a real console: no answer holds a value."""

import asyncio
import base64
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from redshank_console.bootstrap import Console
from redshank_console.cli.main import app
from redshank_shared.domain.errors import Invalid, Misconfigured, NotFound
from redshank_shared.settings.vault import read_vault_keys
from redshank_shared.stores.admin_audits import AdminAudits
from redshank_shared.stores.secrets import Secrets
from redshank_shared.vault.sealing import Sealed
from redshank_shared.vault.slots import CHECK_SLOT
from tests.fakes.valkey import Valkey
from tests.integration.console_world import TOKEN, RunningConsole, running, settings_for

pytest_plugins = ("tests.integration.console_fixtures",)

VALUE = "canary-kept-by-the-console"
BAD: tuple[tuple[str, object, str], ...] = (
    ("gateway.discord", {"value": VALUE}, "slot_namespace"),
    ("vault.check", {"value": VALUE}, "slot_namespace"),
    ("main", {"value": VALUE}, "slot_name"),
    ("model.main", {"value": f"{VALUE}\x00"}, "bad_character"),
    ("model.main", {"value": "abc"}, "secret_too_short"),
    ("model.main", {"value": "   abc\n"}, "secret_too_short"),
    ("model.main", {"value": VALUE * 3000}, "secret_too_long"),
    ("model.main", {"value": [VALUE]}, "invalid"),
    ("model.main", {"value": {VALUE: VALUE}}, "invalid"),
    ("model.main", {"value": VALUE, "extra": VALUE}, "invalid"),
    ("model.main", [VALUE], "invalid"),
    ("model.main", {}, "invalid"),
)


def key_of(byte: int) -> str:
    return base64.b64encode(bytes([byte]) * 32).decode()


def write_keys(path: Path, *bytes_of_keys: int) -> None:
    path.write_text("".join(f"{key_of(byte)}\n" for byte in bytes_of_keys))
    path.chmod(0o600)


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "vault.key"
    write_keys(path, 1)
    return path


@pytest.fixture
async def world(
    tmp_path: Path, database_url: str, valkey: Valkey, key_file: Path
) -> AsyncIterator[RunningConsole]:
    """A console with a vault, over each database."""
    settings = settings_for(tmp_path, database_url, valkey.url, VAULT__KEY_FILE=str(key_file))
    async with running(settings) as made:
        yield made


async def put(world: RunningConsole, slot: str, value: object) -> tuple[int, dict[str, object]]:
    answer = await world.client.put(f"/v1/secrets/{slot}", json={"value": value})
    assert VALUE not in answer.text
    return answer.status_code, dict(answer.json())


def renamed(world: RunningConsole, table: str, to: str) -> None:
    with world.database.begin() as connection:
        connection.execute(text(f"ALTER TABLE {table} RENAME TO {to}"))


async def test_a_secret_is_set_listed_revoked_without_being_shown(world: RunningConsole) -> None:
    status, view = await put(world, "model.main", VALUE)
    assert (status, view["slot"], view["state"], view["version"]) == (200, "model.main", "live", 1)
    assert view["updated_by"] == "admin"
    await put(world, "mcp.custom.acme.BEARER_TOKEN", f"{VALUE}-2")
    answer = await world.client.get("/v1/secrets")
    assert [each["slot"] for each in answer.json()["items"]] == [
        "mcp.custom.acme.BEARER_TOKEN",
        "model.main",
    ]
    assert answer.json()["total"] == 2
    assert VALUE not in answer.text
    assert "sealed" not in answer.text
    revoked = await world.client.post("/v1/secrets/model.main/revoke")
    assert (revoked.json()["state"], revoked.json()["version"]) == ("revoked", 2)
    again = await world.client.post("/v1/secrets/model.main/revoke", json={})
    assert again.json() == revoked.json()
    row = Secrets(world.database).find("model.main")
    assert row is not None
    assert (row.sealed, row.key_id) == ("", "")


async def test_pages_of_slots_go_on_where_the_last_one_ended(world: RunningConsole) -> None:
    for number in range(5):
        await put(world, f"model.m{number}", f"{VALUE}-{number}")
    seen: list[str] = []
    cursor = ""
    while cursor is not None:
        query = {"limit": "2", **({"cursor": cursor} if cursor else {})}
        page = (await world.client.get("/v1/secrets", params=query)).json()
        seen += [each["slot"] for each in page["items"]]
        cursor = page["next_cursor"]
    assert seen == [f"model.m{number}" for number in range(5)]


async def test_the_same_value_again_is_no_new_version(world: RunningConsole) -> None:
    first = await put(world, "model.main", VALUE)
    assert await put(world, "model.main", VALUE) == first
    _, other = await put(world, "model.main", f"{VALUE}-other")
    assert other["version"] == 2


@pytest.mark.req("B-33")
async def test_a_secret_whose_change_cannot_be_written_down_is_not_changed(
    world: RunningConsole,
) -> None:
    await put(world, "model.main", VALUE)
    before = Secrets(world.database).all()
    renamed(world, "admin_audits", "away")
    status, _ = await put(world, "model.main", f"{VALUE}-other")
    revoked = await world.client.post("/v1/secrets/model.main/revoke")
    assert (status >= 500, revoked.status_code >= 500) == (True, True)
    renamed(world, "away", "admin_audits")
    assert Secrets(world.database).all() == before
    await put(world, "model.main", f"{VALUE}-other")
    await world.client.post("/v1/secrets/model.main/revoke")
    acts = AdminAudits(world.database).page(who="admin").items
    assert [(act.act, act.target, act.detail) for act in acts] == [
        ("secret.revoked", "model.main", "version 3"),
        ("secret.set", "model.main", "version 2"),
        ("secret.set", "model.main", "version 1"),
    ]


@pytest.mark.fault("F-12")
async def test_bad_input_is_refused_without_an_echo(world: RunningConsole) -> None:
    for slot, body, code in BAD:
        answer = await world.client.put(f"/v1/secrets/{slot}", json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, code), (slot, body)
        assert "canary" not in answer.text
    assert (await world.client.get("/v1/secrets")).json()["total"] == 0


@pytest.mark.fault("F-12")
async def test_a_body_that_is_no_json_is_refused_without_an_echo(world: RunningConsole) -> None:
    answer = await world.client.put(
        "/v1/secrets/model.main", content=f'{{"value": "{VALUE}'.encode()
    )
    assert answer.status_code in (400, 422)
    assert "canary" not in answer.text


async def test_what_was_never_set_cannot_be_revoked(world: RunningConsole) -> None:
    answer = await world.client.post("/v1/secrets/model.main/revoke")
    assert (answer.status_code, answer.json()["code"]) == (404, "secret_missing")


async def test_many_who_set_one_slot_at_once_leave_one_whole_value(world: RunningConsole) -> None:
    values = [f"{VALUE}-{number}" for number in range(8)]
    answers = await asyncio.gather(*(put(world, "model.main", value) for value in values))
    assert {status for status, _ in answers} == {200}
    row = Secrets(world.database).find("model.main")
    assert row is not None
    assert row.version == 8


async def test_rotation_seals_everything_anew_while_others_write(
    world: RunningConsole, key_file: Path
) -> None:
    for number in range(10):
        await put(world, f"model.m{number}", f"{VALUE}-{number}")
    write_keys(key_file, 2, 1)

    async def writing() -> None:
        for number in range(10):
            await put(world, "hook.busy", f"{VALUE}-busy-{number}")

    async with asyncio.TaskGroup() as group:
        group.create_task(writing())
        rotating = group.create_task(world.client.post("/v1/secrets/rotate"))
    rotation = rotating.result().json()
    assert rotation["left"] == []
    assert {f"model.m{number}" for number in range(10)} <= set(rotation["resealed"])
    second = (await world.client.post("/v1/secrets/rotate")).json()
    assert (second["resealed"], second["left"]) == ([], [])
    rows = Secrets(world.database).all()
    assert {row.key_id for row in rows} == {rotation["key_id"]}
    assert CHECK_SLOT in {row.slot for row in rows}
    # The old key can go now: everything opens, nothing is a new version.
    write_keys(key_file, 2)
    _, view = await put(world, "model.m3", f"{VALUE}-3")
    assert (view["version"], view["key_id"]) == (1, rotation["key_id"])


async def test_a_rotation_names_what_does_not_open(world: RunningConsole, key_file: Path) -> None:
    await put(world, "model.main", VALUE)
    await put(world, "model.other", VALUE)
    secrets = Secrets(world.database)
    row = secrets.find("model.main")
    assert row is not None
    assert secrets.reseal(row, Sealed(row.key_id, "AAAA" + row.sealed[4:]))
    write_keys(key_file, 2, 1)
    rotation = (await world.client.post("/v1/secrets/rotate")).json()
    assert (rotation["left"], rotation["resealed"]) == (["model.main"], ["model.other"])


async def test_a_key_that_replaced_the_vault_s_seals_nothing(
    world: RunningConsole, key_file: Path
) -> None:
    await put(world, "model.main", VALUE)
    before = Secrets(world.database).all()
    write_keys(key_file, 2)
    status, problem = await put(world, "model.main", f"{VALUE}-2")
    assert (status, problem["code"]) == (409, "vault_key_unknown")
    assert (await world.client.post("/v1/secrets/rotate")).status_code == 409
    assert Secrets(world.database).all() == before


async def test_without_a_master_key_setting_is_refused_with_the_mend(
    tmp_path: Path, sqlite_url: str, valkey: Valkey
) -> None:
    async with running(settings_for(tmp_path, sqlite_url, valkey.url)) as world:
        status, problem = await put(world, "model.main", VALUE)
        assert (status, problem["code"]) == (409, "vault_without_key")
        assert "vault.key_file" in str(problem["detail"])
        assert (await world.client.post("/v1/secrets/rotate")).status_code == 409
        assert (await world.client.get("/v1/secrets")).json()["total"] == 0


async def test_every_change_is_an_administrative_act(world: RunningConsole) -> None:
    await put(world, "model.main", VALUE)
    await world.client.post("/v1/secrets/model.main/revoke")
    await world.client.post("/v1/secrets/rotate")
    answer = await world.client.get("/v1/audit")
    acts = [(each["who"], each["act"]) for each in answer.json()["items"]]
    assert acts[:3] == [
        ("admin", "secrets.rotated"),
        ("admin", "secret.revoked"),
        ("admin", "secret.set"),
    ]
    assert VALUE not in answer.text


async def test_a_console_with_a_wrong_master_key_refuses_to_start(
    tmp_path: Path, sqlite_url: str, valkey: Valkey, key_file: Path
) -> None:
    settings = settings_for(tmp_path, sqlite_url, valkey.url, VAULT__KEY_FILE=str(key_file))
    async with running(settings) as world:
        await put(world, "model.main", VALUE)
        before = Secrets(world.database).all()
    write_keys(key_file, 2)
    console = Console(settings)
    with pytest.raises(Misconfigured) as refused:
        await console.prepare()
    await console.close()
    assert refused.value.field == "vault.key_file"
    write_keys(key_file, 1)
    async with running(settings) as world:
        assert Secrets(world.database).all() == before


def test_a_key_file_that_others_may_read_is_refused(tmp_path: Path, key_file: Path) -> None:
    key_file.chmod(0o640)
    settings = settings_for(tmp_path, "sqlite:///x", "redis://x", VAULT__KEY_FILE=str(key_file))
    with pytest.raises(Misconfigured) as refused:
        read_vault_keys(settings)
    assert refused.value.code == "vault_key_exposed"
    assert f"chmod 600 {key_file}" in refused.value.detail


def test_a_key_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere.key"
    settings = settings_for(tmp_path, "sqlite:///x", "redis://x", VAULT__KEY_FILE=str(missing))
    with pytest.raises(Misconfigured, match=r"nowhere\.key"):
        read_vault_keys(settings)


def test_the_key_of_the_environment_goes_before_the_file(tmp_path: Path, key_file: Path) -> None:
    settings = settings_for(
        tmp_path,
        "sqlite:///x",
        "redis://x",
        VAULT__KEY_FILE=str(key_file),
        VAULT__KEY=f"{key_of(3)} {key_of(1)}",
    )
    assert read_vault_keys(settings).split() == [key_of(3), key_of(1)]
    assert key_of(3) not in repr(settings)


class Shell:
    """Types `redshank secrets` at one console."""

    def __init__(self, world: RunningConsole) -> None:
        self._options = ("--url", world.url, "--token", TOKEN)
        self._runner = CliRunner(env={"HOME": "/nonexistent", "COLUMNS": "200"})

    async def __call__(self, *words: str, given: str | None = None) -> tuple[str, str]:
        done = await asyncio.to_thread(
            self._runner.invoke,
            app,
            ["secrets", *words, *self._options],
            input=given,
            catch_exceptions=False,
        )
        assert done.exit_code == 0, done.output
        assert VALUE not in done.output
        return done.stdout, done.stderr


@pytest.mark.req("B-30")
async def test_the_command_line_takes_values_from_standard_input_or_a_file(
    world: RunningConsole, tmp_path: Path
) -> None:
    shell = Shell(world)
    _, said = await shell("set", "model.main", given=f"{VALUE}\n")
    assert said == "model.main is live, version 1\n"
    file = tmp_path / "value.txt"
    file.write_text(f"{VALUE}\n")
    # The same value without its line end: no new version.
    _, said = await shell("set", "model.main", "--file", str(file))
    assert said == "model.main is live, version 1\n"
    listed, _ = await shell("ls")
    assert listed.split("\n")[1].split()[:3] == ["model.main", "live", "1"]
    (item,) = json.loads((await shell("ls", "-o", "json"))[0])
    assert item["slot"] == "model.main"
    assert (await shell("revoke", "model.main"))[1] == "model.main is revoked\n"
    _, said = await shell("rotate")
    assert said.startswith("0 sealed anew; all that opens is under the key ")


@pytest.mark.req("B-30")
async def test_the_command_line_says_what_is_wrong(world: RunningConsole, tmp_path: Path) -> None:
    shell = Shell(world)
    with pytest.raises(Invalid, match="cannot be read"):
        await shell("set", "model.main", "--file", str(tmp_path / "none"))
    with pytest.raises(Invalid, match="begin with one of model"):
        await shell("set", "other.main", given=VALUE)
    with pytest.raises(NotFound, match="redshank secrets ls"):
        await shell("revoke", "model.never")
    (tmp_path / "bytes").write_bytes(os.urandom(4) + b"\xff\xfe")
    with pytest.raises(Invalid, match="no text in UTF-8"):
        await shell("set", "model.main", "--file", str(tmp_path / "bytes"))
