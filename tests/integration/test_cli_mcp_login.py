"""`redshank mcp login`, `status`, `logout` against a real console, with a real callback."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator

import aiohttp
import pytest
from typer.testing import CliRunner

from redshank_console.cli.exits import NOT_FOUND, REFUSED, code_of
from redshank_console.cli.main import app
from redshank_shared.domain.errors import RedshankError
from tests.fakes.authorization_server import AuthorizationServer
from tests.integration.console_world import DEADLINE_SECONDS, TOKEN
from tests.integration.mcp_login_world import World

pytest_plugins = ("tests.integration.mcp_login_fixtures",)

REDSHANK = (sys.executable, "-c", "from redshank_console.cli.main import app; app()")


class Typed:
    """A command under way in a process of its own."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def address(self) -> str:
        """Where it says to log in."""
        assert self.process.stderr is not None
        async with asyncio.timeout(4 * DEADLINE_SECONDS):
            line = (await self.process.stderr.readline()).decode()
        assert line.startswith("log in at "), line
        return line.removeprefix("log in at ").strip()

    async def end(self) -> tuple[int | None, str, str]:
        """Its exit code with what it wrote since."""
        async with asyncio.timeout(4 * DEADLINE_SECONDS):
            out, err = await self.process.communicate()
        return self.process.returncode, out.decode(), err.decode()


@contextlib.asynccontextmanager
async def typed(world: World, *words: str) -> AsyncIterator[Typed]:
    """`redshank` with these words."""
    environ = {
        "PATH": os.defpath,
        "HOME": "/nonexistent",
        "PYTHONPATH": os.pathsep.join(sys.path),
        "REDSHANK_TOKEN": TOKEN,
    }
    process = await asyncio.create_subprocess_exec(
        *REDSHANK,
        *words,
        "--url",
        world.url,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environ,
    )
    try:
        yield Typed(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def visit(address: str) -> tuple[int, str]:
    """What a browser shows at the end of its way from there."""
    async with aiohttp.ClientSession() as session, session.get(address) as response:
        return response.status, await response.text()


async def shell(world: World, *words: str) -> tuple[str, str]:
    """What `redshank` with these words prints as data, as words beside it."""
    runner = CliRunner(env={"HOME": "/nonexistent", "COLUMNS": "200"})
    options = ("--url", world.url, "--token", TOKEN)
    done = await asyncio.to_thread(runner.invoke, app, [*words, *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout, done.stderr


async def refusal(world: World, *words: str) -> RedshankError:
    with pytest.raises(RedshankError) as caught:
        await shell(world, *words)
    return caught.value


@pytest.mark.req("K-71")
async def test_a_login_from_the_command_line_waits_for_its_browser(
    world: World, authority: AuthorizationServer
) -> None:
    words = ("mcp", "login", world.name, "--scope", "read", "--no-browser")
    async with typed(world, *words) as command:
        address = await command.address()
        own = authority.registered[-1]["redirect_uris"][0]
        assert own.startswith("http://127.0.0.1:")
        # Whoever else comes to the port is sent away, and uses nothing up.
        assert (await visit(f"{own}?state=guessed&code=x"))[0] == 404
        assert (await visit(own.replace("/callback", "/")))[0] == 404
        status, page = await visit(address)
        assert (status, "You can close this window" in page) == (200, True), page
        code, out, err = await command.end()
    assert (code, out) == (0, f"logged in to {world.name} with read\n")
    assert "canary-" not in out + err
    assert world.account().access_token in authority.alive


@pytest.mark.req("K-65")
async def test_status_shows_the_account_without_its_tokens_and_logout_ends_it(
    world: World, authority: AuthorizationServer
) -> None:
    out, _ = await shell(world, "mcp", "status", world.name)
    assert "state" in out
    assert "none" in out
    await world.come_back()
    out, _ = await shell(world, "mcp", "status", world.name)
    facts = dict(line.split(None, 1) for line in out.splitlines())
    assert (facts["state"], facts["scopes"]) == ("live", "read write")
    assert facts["issuer"] == authority.issuer
    assert facts["expires"].endswith("renewed")
    assert "canary-" not in out
    out, _ = await shell(world, "mcp", "status", "-o", "json")
    assert world.name in [each["server"] for each in json.loads(out)]
    table, _ = await shell(world, "mcp", "oauth", "status")
    assert f"{world.name}" in table
    _, said = await shell(world, "mcp", "logout", world.name)
    assert said == f"logged out of {world.name}; {world.slot} is revoked\n"
    out, _ = await shell(world, "mcp", "status", world.name, "-o", "json")
    assert json.loads(out)["state"] == "revoked"


@pytest.mark.req("K-71")
async def test_refresh_renews_the_token_now_due_or_not(
    world: World, authority: AuthorizationServer
) -> None:
    nothing = await refusal(world, "mcp", "oauth", "refresh", world.name)
    assert (nothing.code, code_of(nothing)) == ("oauth_login_needed", REFUSED)
    await world.come_back()
    before = world.account()
    _, said = await shell(world, "mcp", "oauth", "refresh", world.name)
    assert said.startswith(f"renewed the token of {world.name}, good until ")
    after = world.account()
    assert after.access_token != before.access_token
    assert {after.access_token, after.refresh_token} <= authority.alive
    assert (after.refreshing, len(authority.refreshes)) == ("", 1)
    out, _ = await shell(world, "mcp", "oauth", "refresh", world.name, "-o", "json")
    assert json.loads(out)["version"] > 1
    assert "canary-" not in said + out
    acts = await world.client.get("/v1/audit", params={"act": "mcp_account.renewed"})
    assert ("admin", world.name) in [(act["who"], act["target"]) for act in acts.json()["items"]]


@pytest.mark.fault("F-13")
async def test_a_refresh_by_hand_waits_for_the_one_under_way_and_uses_no_token_twice(
    world: World, authority: AuthorizationServer
) -> None:
    await world.come_back()
    path = f"{world.path}/login/refresh"
    authority.hold = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(world.client.post(path, json={})) for _ in range(3)]
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not authority.refreshes:
                await asyncio.sleep(0.01)
        authority.hold.set()
    assert [each.result().status_code for each in asked] == [200, 200, 200]
    assert len(authority.refreshes) == 1
    assert world.account().refresh_token in authority.alive


@pytest.mark.fault("F-13")
async def test_a_refresh_by_hand_that_fails_says_whether_a_login_is_needed(
    world: World, authority: AuthorizationServer
) -> None:
    await world.come_back()
    path = f"{world.path}/login/refresh"
    authority.failure = (503, {})
    away = await world.client.post(path, json={})
    assert (away.status_code, away.json()["code"]) == (503, "oauth_unavailable")
    assert world.account().refreshing == ""
    authority.failure = (400, {"error": "invalid_grant"})
    spent = await world.client.post(path, json={})
    assert (spent.status_code, spent.json()["code"]) == (409, "oauth_login_needed")
    assert "canary-" not in away.text + spent.text
    assert (await world.client.get(f"{world.path}/login")).json()["state"] == "needs_login"


@pytest.mark.req("K-71")
async def test_a_login_that_cannot_begin_or_end_says_why(
    world: World, authority: AuthorizationServer
) -> None:
    missing = await refusal(world, "mcp", "login", "nobody")
    assert code_of(missing) == NOT_FOUND
    authority.metadata["registration_endpoint"] = None
    refused = await refusal(world, "mcp", "login", world.name)
    assert code_of(refused) == REFUSED
    assert "--client-id" in refused.detail
    authority.clients["ours"] = ""
    authority.failure = (400, {"error": "invalid_grant", "error_description": "no such <code>"})
    words = ("mcp", "login", world.name, "--client-id", "ours", "--no-browser")
    async with typed(world, *words) as command:
        status, page = await visit(await command.address())
        assert status == 409
        assert "no such &lt;code&gt;" in page
        code, out, err = await command.end()
    assert (code, out) == (REFUSED, "")
    assert "no such <code>" in err
    assert world.row() is None
