"""Profiles over HTTP: listed in pages, shown by name."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from redshank_console.services.profiles import install_profiles
from redshank_shared.settings.sections import ProfileSource
from tests.integration.console_world import RunningConsole

pytest_plugins = ("tests.integration.console_fixtures",)

PATH = "/v1/profiles"


@pytest.fixture
def own_profile(console: RunningConsole, tmp_path: Path) -> Iterator[str]:
    """The name of a profile that was configured for the running console."""
    file = tmp_path / "mine.toml"
    file.write_text('title = "Mine"\n[tools]\npeek = { canonical = "read_file" }\n')
    install_profiles({"mine": ProfileSource(str(file))}, "mine")
    yield "mine"
    install_profiles({}, "default")


async def answered(world: RunningConsole, path: str, **query: object) -> httpx.Response:
    return await world.client.get(path, params={key: str(value) for key, value in query.items()})


async def test_all_profiles_are_listed_redshanks_own_first(console: RunningConsole) -> None:
    page = (await answered(console, PATH)).json()

    assert [profile["name"] for profile in page["items"]] == [
        "default",
        "turnstone",
        "kheish",
        "cireilclaw",
    ]
    assert (page["next_cursor"], page["total"]) == (None, 4)


async def test_profiles_come_in_pages(console: RunningConsole) -> None:
    first = (await answered(console, PATH, limit=3)).json()
    rest = (await answered(console, PATH, limit=3, cursor=first["next_cursor"])).json()

    assert [profile["name"] for profile in rest["items"]] == ["cireilclaw"]
    assert (len(first["items"]), first["total"], rest["next_cursor"]) == (3, 4, None)


@pytest.mark.parametrize(("query", "field"), [({"limit": 0}, "limit"), ({"cursor": "x"}, "cursor")])
async def test_a_page_that_cannot_be_is_refused_by_its_field(
    console: RunningConsole, query: dict[str, object], field: str
) -> None:
    refused = await answered(console, PATH, **query)

    assert (refused.status_code, refused.json()["field"]) == (422, field)


@pytest.mark.req("K-9")
async def test_a_profile_shows_each_tool_with_what_it_does_by_default(
    console: RunningConsole,
) -> None:
    shown = (await answered(console, f"{PATH}/kheish")).json()
    tools = {tool["name"]: tool for tool in shown["tools"]}

    assert (shown["name"], len(tools)) == ("kheish", 55)
    assert tools["set_channel_reaction"] == {
        "name": "set_channel_reaction",
        "canonical": "react",
        "effect": "deliver",
        "default": "allow",
        "plan": False,
        "parallel": True,
        "aliases": [],
        "asks": [],
    }
    assert (tools["bash"]["default"], tools["bash"]["effect"]) == ("ask", "process")
    assert [rule["pattern"] for rule in shown["rules"]][-1] == "*"
    assert shown["mcp_default"] == "ask"


async def test_a_profile_that_is_not_there_is_not_found_with_the_nearest_name(
    console: RunningConsole,
) -> None:
    missing = await answered(console, f"{PATH}/cireilclow")

    assert missing.status_code == 404
    assert missing.json()["code"] == "profile_not_found"
    assert "did you mean cireilclaw?" in missing.json()["detail"]


async def test_profiles_are_for_those_who_signed_in(console: RunningConsole) -> None:
    async with console.new_client() as stranger:
        assert (await stranger.get(PATH)).status_code == 401


@pytest.mark.parametrize("profile", ["default", "turnstone", "kheish", "cireilclaw"])
async def test_a_workstream_may_be_created_with_any_profile(
    console: RunningConsole, profile: str
) -> None:
    created = await console.client.post("/v1/workstreams", json={"profile": profile})

    assert (created.status_code, created.json()["profile"]) == (201, profile)


async def test_a_profile_of_the_operators_own_is_listed_and_may_be_used(
    console: RunningConsole, own_profile: str
) -> None:
    created = await console.client.post("/v1/workstreams", json={"profile": own_profile})
    shown = (await answered(console, f"{PATH}/{own_profile}")).json()
    page = (await answered(console, PATH)).json()

    assert created.status_code == 201
    assert [(tool["name"], tool["canonical"]) for tool in shown["tools"]] == [("peek", "read_file")]
    assert page["items"][-1]["name"] == own_profile
