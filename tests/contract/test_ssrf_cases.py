"""Every case of where a URL may lead: what must not be connected to is not connected to."""

import asyncio
import pathlib
import tomllib
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from redshank_node.tools.builtin import web_fetch
from redshank_node.tools.support.web import addresses, client, network
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
KINDS = tomllib.loads((_FOLDER / "ssrf_kinds.toml").read_text(encoding="utf-8"))
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
        session = network.session_to(("93.184.216.34",), "www.example.com", world.network)
        async with session:
            with pytest.raises(aiohttp.ClientConnectorError):
                await session.get(url)

        assert world.connected == []


@pytest.mark.fault("F63")
async def test_no_form_of_an_address_that_only_some_readers_take_is_connected_to() -> None:
    passed = []
    async with web_world({"x.example": [[]]}) as world:
        for url in KINDS["refused"]:
            try:
                _, result = await fetched(world, url, allow_private=False)
            except BadArguments:
                continue
            if not (result.is_error and "refused" in result.output):
                passed.append(url)

        assert passed == []
        assert world.connected == []


@pytest.mark.fault("F20")
@pytest.mark.fault("F63")
async def test_no_redirect_leads_inside_or_to_another_scheme_however_it_is_written() -> None:
    answers = {"www.example.com": [["93.184.216.34"]], "in.example": [["10.0.0.5"]]}
    async with web_world(answers, KINDS["redirects"]) as world:
        for location in KINDS["redirects"]:
            _, result = await fetched(world, "http://www.example.com/", allow_private=False)
            assert result.is_error, location
            assert "url is refused: redirect 1 to " in result.output, location
            assert "secret" not in result.output

        assert set(world.connected) == {"93.184.216.34"}
        assert len(world.requests) == len(KINDS["redirects"])


@pytest.mark.req("T-30")
async def test_ordinary_addresses_are_fetched_from_where_their_names_lead() -> None:
    async with web_world(KINDS["names"]) as world:
        for url in KINDS["allowed"]:
            target = addresses.target_of(url.strip())
            assert (await client.fetch(target, world.network)).status == 200

        assert set(world.connected) <= set(PUBLIC)
        assert len(world.requests) == len(KINDS["allowed"])


@pytest.mark.req("T-30")
async def test_redirects_to_public_places_are_followed_however_they_are_written() -> None:
    names = {"www.example.com": [["93.184.216.34"]], "b.example": [["1.1.1.1"]]}
    async with web_world(names) as world:
        locations = iter(KINDS["followed"])

        async def every_second(_: web.Request) -> web.Response:
            if len(world.requests) % 2:
                return web.Response(status=302, headers={"Location": next(locations)})
            return web.Response(text="there")

        world.answer = every_second
        for location in KINDS["followed"]:
            target = addresses.target_of("http://www.example.com/")
            fetched_there = await client.fetch(target, world.network)
            assert fetched_there.body == b"there", location

        assert set(world.connected) <= set(PUBLIC)
