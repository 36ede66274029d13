"""Every case of where a URL may lead: what must not be connected to is not connected to."""

import asyncio
import pathlib
import tomllib
from typing import Any

import aiohttp
import pytest

from redshank_node.tools.builtin import web_fetch
from redshank_node.tools.support import web_network
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, WebAccess
from redshank_node.tools.tool import Workspace as Place
from redshank_shared.settings.sections import Tools
from tests.fakes.web_world import WebWorld, web_world

_FOLDER = pathlib.Path(__file__).parent / "cases"
CASES: list[dict[str, Any]] = [
    case
    for file in ("ssrf.toml", "ssrf_more.toml")
    for case in tomllib.loads((_FOLDER / file).read_text())["case"]
]
PUBLIC = ("93.184.216.34", "1.1.1.1", "172.32.0.1", "100.63.255.255", "2606:4700:4700::1111")


async def fetched(world: WebWorld, url: str, *, allow_private: bool) -> tuple[Prepared, Result]:
    """The call as the engine takes it through: prepared off the loop, then run."""
    tool = web_fetch.tool(world.network)
    place = Place(pathlib.Path("/"), WebAccess(Tools(allow_private_network=allow_private)))
    prepared = await asyncio.to_thread(tool.prepare, {"url": url}, place)
    return prepared, await tool.run(prepared, CallContext("call_1", place, lambda _: None))


@pytest.mark.req("T-30", "K-13")
@pytest.mark.fault("F20")
@pytest.mark.fault("F63")
@pytest.mark.parametrize("case", CASES, ids=[f"{case['id']} {case['why']}" for case in CASES])
async def test_what_must_not_be_connected_to_is_not_connected_to(case: dict[str, Any]) -> None:
    expect = case["expect"]
    async with web_world(case.get("answers", {"x.example": [[]]}), case.get("hops", ())) as world:
        label, said, failed = "", "", False
        try:
            prepared, result = await fetched(
                world, case["url"], allow_private=case.get("allow_private", False)
            )
            label, said, failed = prepared.label, result.output, result.is_error
        except BadArguments as refused:
            said, failed = str(refused), True

        assert case.get("never", "") not in world.connected
        if expect == "ask":
            assert label.startswith("private:")
            assert "PRIVATE NETWORK" in prepared.preview.title
            assert world.connected == prepared.arguments["_addresses"]
            return
        assert label == ""
        assert [each for each in world.connected if each not in PUBLIC] == []
        assert len(world.requests) <= len(case.get("hops", ())) + 1
        if expect == "allow":
            assert not failed, said
            assert len(world.requests) == case.get("requests", 1)
        elif expect == "refuse":
            assert failed
            assert "refused" in said
            assert len(world.requests) == case.get("requests", 0)
            if case.get("hops"):
                assert f"redirect {len(world.requests)}" in said


@pytest.mark.fault("F20")
@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "http://other.example/", "http://1.1.1.1/", "http://[::1]/"]
)
async def test_a_session_goes_to_the_judged_addresses_alone_whatever_it_is_asked(url: str) -> None:
    async with web_world() as world:
        session = web_network.session_to(("93.184.216.34",), "www.example.com", world.network)
        async with session:
            with pytest.raises(aiohttp.ClientConnectorError):
                await session.get(url)

        assert world.connected == []
