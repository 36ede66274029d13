"""Previews, outputs, media on a machine that one `redshank up` runs: as documented, kept, gone."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.document_world import *  # noqa: F403 - fixtures are found by name
from tests.e2e.document_world import follow
from tests.e2e.redshank_up import Home, Up
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import faults, of_kind
from tests.fakes.media_server import media_server, png

pytestmark = pytest.mark.timeout(180)


@pytest.mark.req("T-33", "K-14", "K-15")
def test_the_commands_of_the_document_do_what_it_says(home: Home, running: Up) -> None:
    assert follow(home, "docs/preview.md") == 4


def call(tool: str, **arguments: Any) -> str:
    """What the demo model takes as a call."""
    return f"call: {tool} {json.dumps(arguments)}"


@pytest.mark.req("T-33")
async def test_a_url_waits_for_a_person_a_file_does_not(new_cluster: ClusterMaker) -> None:
    cluster = new_cluster(nodes=1)
    (cluster.workspace / "notes.md").write_text("# Notes")
    async with cluster.client() as person:
        asks = await person.create(call("open_preview", target="https://www.example.com/"))
        free = await person.create(call("open_preview", target="notes.md"))
        await person.wait_for_state(asks, "waiting")
        await person.wait_for_state(free, "idle")
        (asked,) = of_kind(await person.events(asks), "approval.requested")
        events = await person.events(free)

    assert asked["pattern"] == "open_preview:url"
    assert asked["preview"]["title"] == "show https://www.example.com/"
    assert faults(events) == {}
    (opened,) = of_kind(events, "preview.opened")
    assert (opened["shows"], opened["source"]) == ("markdown", "notes.md")


@pytest.mark.req("K-16", "K-17")
async def test_a_configured_route_makes_an_image_that_can_be_handed_over(
    new_cluster: ClusterMaker, tmp_path: Path
) -> None:
    async with media_server() as server:
        file = tmp_path / "redshank.toml"
        file.write_text(
            '[models.demo]\nprovider = "demo"\n\n[models.painter]\nprovider = "openai"\n'
            f'model = "brush-1"\nbase_url = "{server.url}"\n'
            "capabilities = { image_generation = true }\n"
        )
        cluster = new_cluster(nodes=1, settings={"REDSHANK_CONFIG": str(file)})
        async with cluster.client() as person:
            asked = call("generate_image", prompt="a redshank", provider="painter")
            workstream = await person.create(asked)
            await person.wait_for_state(workstream, "idle")
            events = await person.events(workstream)

    assert faults(events) == {}
    (stored,) = of_kind(events, "assets.stored")
    (finished,) = of_kind(events, "call.finished")
    assert json.loads(finished["output"])["provider"] == "openai"
    assert stored["assets"][0]["size"] == len(png("a redshank 0"))
