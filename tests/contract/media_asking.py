"""Routes that make media, over a server on loopback, for the stories of the media tools."""

import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable

from redshank_node.tools.tool import Availability, MediaRoute
from redshank_shared.domain.errors import NotFound
from tests.contract.artifact_world import ArtifactWorld
from tests.fakes.media_server import MediaServer, media_server

KEY = "key-of-the-painter"


async def no_key() -> str:
    raise NotFound("the slot model.painter is empty: set it with `redshank secrets set`")


async def the_key() -> str:
    return KEY


def route(
    url: str,
    name: str,
    *can: Availability,
    find_key: Callable[[], Awaitable[str]] = the_key,
    model: str = "brush-1",
) -> MediaRoute:
    """A configured model at this address that can do this."""
    return MediaRoute(name, "openai", model, url, frozenset(can), find_key, 5.0)


@contextlib.asynccontextmanager
async def painting(world: ArtifactWorld, *can: Availability) -> AsyncGenerator[MediaServer]:
    """A server, with two routes to it that can do this, behind one that cannot."""
    async with media_server() as server:
        names = ("painter", "second")
        world.media = (
            route(server.url, "other"),
            *(route(server.url, name, *can) for name in names),
        )
        yield server
