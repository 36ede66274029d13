"""An authorization server, a server that trusts it, a node that signs in there."""

from collections.abc import AsyncIterator

import pytest

from tests.fakes.authorization_server import AuthorizationServer, ProtectedServer
from tests.integration.oauth_world import OAuthNode


@pytest.fixture
async def authority() -> AsyncIterator[AuthorizationServer]:
    async with AuthorizationServer().serving() as serving:
        yield serving


@pytest.fixture
async def server(authority: AuthorizationServer) -> AsyncIterator[ProtectedServer]:
    async with ProtectedServer(authority).serving() as serving:
        yield serving


@pytest.fixture
async def node(sqlite_url: str) -> AsyncIterator[OAuthNode]:
    async with OAuthNode(sqlite_url).running() as made:
        yield made
