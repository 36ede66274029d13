"""A console with MCP servers that are logged in to, for tests of logins."""

import base64
import contextlib
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import msgspec

from redshank_shared.domain.oauth_account import Account
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.secrets import SecretRow, Secrets
from redshank_shared.vault.sealing import Sealed, Vault
from tests.integration.console_world import RunningConsole, ServingThread, settings_for

KEY = base64.b64encode(bytes([7]) * 32).decode()


def settings_with(folder: Path, template: Path, redis_url: str, key: str = KEY) -> Settings:
    """Settings of a console with this master key, over a database of its own."""
    shutil.copy(template, folder / "console.db")
    url = f"sqlite:///{folder}/console.db"
    return settings_for(folder, url, redis_url, **({"VAULT__KEY": key} if key else {}))


class World:
    """A console with a server `name` that is logged in to."""

    def __init__(self, console: RunningConsole, name: str) -> None:
        self.console = console
        self.client = console.client
        self.url = console.url
        self.database = console.database
        self.name = name
        self.slot = f"mcp.oauth.{name}"
        self.path = f"/v1/mcp/servers/{name}"

    async def add(self, url: str, **more: Any) -> None:
        """Give the cluster the server."""
        body = {"name": self.name, "url": url, "oauth_slot_ref": self.slot, **more}
        answer = await self.client.post("/v1/mcp/servers", json=body)
        assert answer.status_code == 201, answer.text

    async def begin(self, **body: Any) -> dict[str, Any]:
        """What a login that begins is answered."""
        answer = await self.client.post(f"{self.path}/login", json=body)
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    async def refused(self, **body: Any) -> tuple[int, str]:
        """The status with the code of a login that does not begin."""
        answer = await self.client.post(f"{self.path}/login", json=body)
        return answer.status_code, answer.json()["code"]

    async def come_back(self, **body: Any) -> httpx.Response:
        """The page at the end of a browser's whole way."""
        back = await location((await self.begin(**body))["authorization_url"])
        return await self.client.get(back)

    def row(self) -> SecretRow | None:
        """What lies in the slot, sealed."""
        return Secrets(self.database).find(self.slot)

    def account(self) -> Account:
        """The account, opened with the master key."""
        row = self.row()
        assert row is not None
        text = Vault(lambda: KEY).open(self.slot, row.version, Sealed(row.key_id, row.sealed))
        return msgspec.json.decode(text, type=Account)


@contextlib.asynccontextmanager
async def opened(settings: Settings, thread: ServingThread) -> AsyncIterator[RunningConsole]:
    console = RunningConsole(settings, thread)
    try:
        yield console
    finally:
        await console.close()


async def location(address: str) -> str:
    """Where the authorization server sends the browser."""
    async with (
        aiohttp.ClientSession() as session,
        session.get(address, allow_redirects=False) as response,
    ):
        return response.headers["location"]
