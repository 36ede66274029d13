"""A service that the operator named is asked where it was named, and nowhere else."""

import contextlib
from collections.abc import AsyncGenerator

import pytest
from aiohttp import web

from redshank_node.tools.support.media.client import MediaFailed, generate_images
from redshank_node.tools.support.web.operators import Unanswered, asked
from redshank_node.tools.tool import MediaRoute


@contextlib.asynccontextmanager
async def moved() -> AsyncGenerator[tuple[str, list[str]]]:
    """A server that sends everybody on, with the paths that it was asked for."""
    paths: list[str] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        paths.append(request.path)
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", paths
    finally:
        await runner.cleanup()


@pytest.mark.req("T-32")
async def test_the_key_of_a_reranker_does_not_follow_a_redirect() -> None:
    async with moved() as (url, paths):
        with pytest.raises(Unanswered, match="it answers 307"):
            await asked("POST", f"{url}/rerank", 10.0, 1000, headers={"Authorization": "Bearer k"})
    assert paths == ["/rerank"]


@pytest.mark.req("K-17")
async def test_the_key_of_a_media_model_does_not_follow_a_redirect() -> None:
    async def key() -> str:
        return "k"

    async with moved() as (url, paths):
        route = MediaRoute("painter", "openai", "p", url, frozenset({"image_generation"}), key)
        with pytest.raises(MediaFailed, match="painter answers 307"):
            await generate_images(route, 10.0, {"prompt": "a wader"})
    assert paths == ["/images/generations"]
