"""The client that the public conformance suite tests: our own connection, driven by scenario.

The suite starts it as `client.py DATABASE URL`. MCP_CONFORMANCE_SCENARIO says what to do there,
MCP_CONFORMANCE_CONTEXT what an operator would know beforehand. DATABASE is a migrated SQLite file,
which is copied.
"""

import asyncio
import json
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from redshank_node.mcp_client.failures import McpFailure
from redshank_node.mcp_client.supervisor import McpServers
from redshank_shared.domain.oauth_flow import CallbackAnswer
from redshank_shared.oauth.login import LoginAsk, begin, complete
from redshank_shared.oauth.requests import Requests
from redshank_shared.settings.environment import process_environment
from redshank_shared.settings.mcp_server import McpServer, check
from tests.fakes.mcp_node import connected, status
from tests.integration.oauth_world import OAuthNode, at, browse, now

SERVER = "suite"
SLOT = "mcp.oauth.suite"
SECONDS = 20.0
REDIRECT = "http://127.0.0.1:8091/callback"
# The address that the suite knows a client's own metadata by.
DOCUMENT = "https://conformance-test.local/client-metadata.json"
# A person who is asked for the same again and again gives up.
MOST_LOGINS = 3
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "tools_call": ("add_numbers", {"a": 5, "b": 3}),
    "sse-retry": ("test_reconnection", {}),
    "elicitation-sep1034-client-defaults": ("test_client_elicitation_defaults", {}),
}
# Every scenario of signing in has this one.
PROTECTED = ("test-tool", {})


async def main(template: Path, url: str, scenario: str, context: dict[str, str]) -> None:
    """Connect to the server of the scenario, do there what it asks for."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if scenario.startswith("auth/"):
            shutil.copy(template, folder / "redshank.db")
            async with signing_in(url, folder) as (servers, person):
                await person.call(servers, context)
            return
        server = McpServer(name=SERVER, url=url, questions="defaults")
        async with connected(folder, server) as servers:
            assert status(servers, SERVER).state == "connected", status(servers, SERVER)
            if scenario in CALLS:
                tool, arguments = CALLS[scenario]
                called = await servers.call(SERVER, tool, arguments, SECONDS)
                assert not called.is_error, called


class Person:
    """Does what the messages say: `redshank mcp login suite --scope …`, then calls again."""

    def __init__(self, node: OAuthNode, url: str) -> None:
        self._node = node
        self._url = url

    async def call(self, servers: McpServers, context: dict[str, str]) -> None:
        """Call the tool of a server that wants a login; McpFailure where none is enough."""
        scopes: tuple[str, ...] = ()
        for number in range(MOST_LOGINS):
            await self._log_in(scopes, context)
            await servers.reconnect(SERVER)
            try:
                called = await servers.call(SERVER, *PROTECTED, SECONDS)
            except McpFailure as failure:
                asked = tuple(re.findall(r"--scope ([^\s`]+)", str(failure)))
                if number + 1 == MOST_LOGINS or not asked:
                    raise
                scopes = asked
            else:
                assert not called.is_error, called
                return

    async def _log_in(self, scopes: tuple[str, ...], context: dict[str, str]) -> None:
        ask = LoginAsk(
            SERVER,
            self._url,
            self._url,
            REDIRECT,
            scopes,
            client_id=context.get("client_id", ""),
            client_secret=context.get("client_secret", ""),
            client_document=DOCUMENT,
        )
        state = secrets.token_urlsafe()
        begun = await begin(Requests(), ask, state, secrets.token_bytes(32))
        answer = await browse(begun.authorization_url)
        assert answer["state"] == state
        came = CallbackAnswer(code=answer["code"], issuer=answer.get("iss", ""))
        account = await complete(Requests(), begun.pending, came, "ana", at(), now())
        await self._node.accounts.put(SLOT, account, "ana")


@asynccontextmanager
async def signing_in(url: str, folder: Path) -> AsyncIterator[tuple[McpServers, Person]]:
    """A node with a vault, whose one server wants an account; nobody has logged in yet."""
    server = McpServer(name=SERVER, url=url, oauth_slot_ref=SLOT)
    check((server,))
    async with (
        OAuthNode(f"sqlite:///{folder}/redshank.db").running() as node,
        connected(
            folder,
            server,
            value=node.live.value,
            authorize=node.access.authorize,
            refused=node.access.refused,
        ) as servers,
    ):
        assert status(servers, SERVER).state == "needs_login", status(servers, SERVER)
        yield servers, Person(node, url)


if __name__ == "__main__":
    around = process_environment()
    asyncio.run(
        main(
            Path(sys.argv[1]),
            sys.argv[-1],
            around["MCP_CONFORMANCE_SCENARIO"],
            json.loads(around.get("MCP_CONFORMANCE_CONTEXT", "{}")),
        )
    )
