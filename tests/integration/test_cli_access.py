"""`redshank users`, `tokens`, `whoami`, `audit`, `signin --user` against a real console."""

import asyncio
import json
from typing import Any

import pytest
from typer.testing import CliRunner

from redshank_console.cli.exits import NOT_FOUND, REFUSED, USAGE, code_of
from redshank_console.cli.main import app
from redshank_shared.domain.errors import RedshankError
from tests.integration.console_world import TOKEN, RunningConsole

pytest_plugins = ("tests.integration.console_fixtures",)


class Shell:
    """Types commands at one console, with a token."""

    def __init__(self, world: RunningConsole, token: str = TOKEN) -> None:
        self._world = world
        self._options = ("--url", world.url, "--token", token)
        self._runner = CliRunner(env={"HOME": "/nonexistent", "COLUMNS": "200"})

    async def __call__(self, *words: str) -> tuple[str, str]:
        """What `redshank` with these words prints as data, as words beside it."""
        done = await asyncio.to_thread(
            self._runner.invoke, app, [*words, *self._options], catch_exceptions=False
        )
        assert done.exit_code == 0, done.output
        return done.stdout, done.stderr

    async def data(self, *words: str) -> Any:
        return json.loads((await self(*words, "-o", "json"))[0])

    async def refusal(self, *words: str) -> RedshankError:
        """The error that the command ends with."""
        with pytest.raises(RedshankError) as caught:
            await self(*words)
        return caught.value

    def with_token(self, token: str) -> "Shell":
        return Shell(self._world, token)


@pytest.fixture
def shell(console: RunningConsole) -> Shell:
    """A shell of the first admin."""
    return Shell(console)


@pytest.mark.req("B-33")
async def test_a_user_is_made_given_roles_shut_out_let_in_again(shell: Shell) -> None:
    for words, said in [
        (("add", "ana"), "ana is viewer, active\n"),
        (("role", "ana", "operator"), "ana is operator, active\n"),
        (("revoke", "ana"), "ana is operator, revoked\n"),
        (("restore", "ana"), "ana is operator, active\n"),
        (("remove", "ana"), "ana is gone\n"),
    ]:
        assert (await shell("users", *words)) == ("", said)
    await shell("users", "add", "bea", "--role", "admin")
    await shell("users", "revoke", "bea")
    assert [one["name"] for one in await shell.data("users", "ls")] == ["admin", "bea"]
    assert [one["name"] for one in await shell.data("users", "ls", "--state", "active")] == [
        "admin"
    ]
    table, _ = await shell("users", "ls")
    head, _, row = table.splitlines()
    assert head.split() == ["NAME", "ROLE", "STATE", "SINCE", "BY"]
    assert row.split()[:3] == ["bea", "admin", "revoked"]


@pytest.mark.req("B-33")
async def test_a_tokens_secret_is_all_that_standard_output_holds(shell: Shell) -> None:
    await shell("users", "add", "ana", "--role", "operator")
    secret, said = await shell(
        "tokens", "add", "--user", "ana", "--scopes", "read,approve", "--expires", "30d",
        "--label", "phone",
    )  # fmt: skip
    assert secret.startswith("rsk_")
    assert len(secret.splitlines()) == 1
    assert " of ana may read, approve, until 20" in said
    ana = shell.with_token(secret.strip())
    assert (await ana("whoami"))[0] == "name  ana\nrole  operator\nmay   read, approve\n"
    assert await ana.data("whoami") == {
        "name": "ana",
        "role": "operator",
        "scopes": ["read", "approve"],
    }
    (token,) = await shell.data("tokens", "ls", "--user", "ana")
    assert (token["label"], token["created_by"]) == ("phone", "admin")
    table, _ = await shell("tokens", "ls")
    assert secret.strip() not in table
    assert f"{token['id']}  ana    read,approve" in table
    assert (await shell("tokens", "revoke", token["id"]))[1] == f"{token['id']} is revoked\n"
    assert code_of(await ana.refusal("whoami")) == REFUSED
    made = await shell.data("tokens", "add")
    assert (made["name"], made["expires_at"]) == ("admin", None)


@pytest.mark.req("B-33")
async def test_what_admins_did_is_listed(shell: Shell) -> None:
    await shell("users", "add", "ana")
    await shell("users", "revoke", "ana")
    table, said = await shell("audit", "--limit", "1")
    assert table.splitlines()[1].split()[1:] == [
        "admin", "user.revoked", "ana", "state", "revoked",
    ]  # fmt: skip
    assert said == "the newest 1 of 3\n"
    (act,) = await shell.data("audit", "--who", "admin", "--act", "user.created")
    assert (act["target"], act["detail"]) == ("ana", "role viewer")


async def test_a_sign_in_link_is_for_oneself_or_for_another(shell: Shell) -> None:
    await shell("users", "add", "ana")
    for words in ((), ("--user", "ana")):
        link, _ = await shell("signin", *words)
        assert "/#/signin?code=" in link


async def test_what_is_refused_ends_with_its_code(shell: Shell) -> None:
    await shell("users", "add", "ana", "--role", "operator")
    refusals = {
        ("users", "add", "ana"): REFUSED,
        ("users", "add", "a b"): USAGE,
        ("users", "add", "bea", "--role", "root"): USAGE,
        ("users", "role", "nobody", "viewer"): NOT_FOUND,
        ("users", "revoke", "admin"): REFUSED,
        ("users", "remove", "nobody"): NOT_FOUND,
        ("tokens", "add", "--scopes", "root"): USAGE,
        ("tokens", "add", "--user", "ana", "--scopes", "admin"): USAGE,
        ("tokens", "add", "--user", "nobody"): USAGE,
        ("tokens", "add", "--expires", "soon"): USAGE,
        ("tokens", "revoke", "tok_1111111111111111111111"): NOT_FOUND,
        ("tokens", "revoke", "mine"): USAGE,
        ("signin", "--user", "nobody"): USAGE,
    }
    codes = {words: code_of(await shell.refusal(*words)) for words in refusals}
    assert codes == refusals
    secret, _ = await shell("tokens", "add", "--user", "ana")
    for words in (("users", "ls"), ("tokens", "add"), ("audit",)):
        refused = await shell.with_token(secret.strip()).refusal(*words)
        assert (code_of(refused), refused.code) == (REFUSED, "role_needed")
