"""Logging in to an MCP server from the page, on its authorization server's own."""

import asyncio
import base64
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.people import DESK, People, shot, signed_in, turn_to, wrong_on
from tests.fakes.authorization_server import AuthorizationServer, ProtectedServer
from tests.fakes.cluster_fixtures import ClusterMaker

KEY = base64.b64encode(bytes([7]) * 32).decode()
STARTS_SECONDS = 30


@pytest.fixture
def guarded() -> Iterator[ProtectedServer]:
    """A server that wants a login, with who grants it, in a thread of their own."""
    server = ProtectedServer(AuthorizationServer())
    loop, begun, ends = asyncio.new_event_loop(), threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with server.authority.serving(), server.serving():
            begun.set()
            await ends.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert begun.wait(STARTS_SECONDS)
        yield server
    finally:
        loop.call_soon_threadsafe(ends.set)
        thread.join()
        loop.close()


@pytest.fixture
def people(tmp_path: Path) -> Iterator[People]:
    """A node with a vault."""
    maker = ClusterMaker(tmp_path)
    try:
        yield People(maker(nodes=1, settings={"REDSHANK_VAULT__KEY": KEY}))
    finally:
        maker.close()


@pytest.mark.req("B-26", "K-71")
def test_a_server_that_waits_for_a_login_is_logged_in_to_from_the_page(
    browser: Browser, people: People, guarded: ProtectedServer
) -> None:
    record = {"name": "harbour", "url": guarded.url, "oauth_slot_ref": "mcp.oauth.harbour"}
    people.ask("/v1/mcp/servers", record)
    with signed_in(browser, people) as page:
        turn_to(page, "mcp/harbour")
        own = page.get_by_role("region", name="harbour", exact=True)
        expect(own).to_contain_text("It waits for a login.")
        expect(page.get_by_role("table", name="Servers by name")).to_contain_text("log in")
        own.get_by_role("button", name="Log in").first.click()
        dialog = page.get_by_role("dialog", name="Log in to harbour")
        dialog.get_by_role("button", name="Begin").click()
        way = dialog.get_by_role("link", name="Open the login page")
        host = guarded.authority.url.removeprefix("http://")
        expect(dialog).to_contain_text(f"It is at {host}")
        assert wrong_on(page) == []
        shot(page, "mcp-login", DESK)
        with page.context.expect_page() as opened:
            way.click()
        expect(opened.value.locator("body")).to_contain_text("You can close this window")
        expect(dialog).to_be_hidden()
        record_panel = page.get_by_role("region", name="Record")
        expect(record_panel).to_contain_text("Logged in by admin")
        expect(own.get_by_role("button", name="echo")).to_be_visible()
        expect(own.get_by_text("It waits for a login.")).to_have_count(0)
        record_panel.get_by_role("button", name="Log out").click()
        expect(record_panel).not_to_contain_text("Logged in by admin")
    assert guarded.authority.alive == set()
