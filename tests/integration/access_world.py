"""People with roles at a real console: for tests of who may do what."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx

from tests.integration.console_world import RunningConsole


class Person:
    """A user who is signed in with a token of their own."""

    def __init__(self, name: str, token_id: str, secret: str, client: httpx.AsyncClient) -> None:
        self.name = name
        self.token_id = token_id
        self.secret = secret
        self.client = client


async def add_user(console: RunningConsole, name: str, role: str) -> None:
    """A user without a token."""
    answer = await console.client.post("/v1/users", json={"name": name, "role": role})
    assert answer.status_code == 201, answer.text


async def mint(console: RunningConsole, **body: Any) -> dict[str, Any]:
    """A token made by the first admin."""
    answer = await console.client.post("/v1/tokens", json=body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


@asynccontextmanager
async def signed_in(console: RunningConsole, name: str, **token: Any) -> AsyncIterator[Person]:
    """A user who exists already, with a fresh token."""
    made = await mint(console, name=name, **token)
    headers = {"Authorization": f"Bearer {made['token']}"}
    async with console.new_client(headers) as client:
        yield Person(name, made["id"], made["token"], client)


@asynccontextmanager
async def person(
    console: RunningConsole, name: str, role: str, **token: Any
) -> AsyncIterator[Person]:
    """A new user of this role, with a token."""
    await add_user(console, name, role)
    async with signed_in(console, name, **token) as signed:
        yield signed
