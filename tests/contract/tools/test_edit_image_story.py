"""edit_image, as an agent uses it: kept images, changed as words say."""

import pytest

from redshank_node.tools.builtin import edit_image, store_asset
from redshank_node.tools.tool import BadArguments
from tests.contract.artifact_world import ArtifactWorld, said
from tests.contract.media_asking import painting
from tests.fakes.media_server import png

pytest_plugins = ("tests.contract.artifact_fixtures",)
pytestmark = pytest.mark.req("K-16")


async def stored(world: ArtifactWorld, name: str, body: bytes) -> str:
    world.write(name, body)
    return str(said(await world.call(store_asset.TOOL, path=name))["asset_id"])


async def test_an_image_goes_there_and_another_comes_back(world: ArtifactWorld) -> None:
    bird = await stored(world, "bird.png", png("bird"))

    async with painting(world, "image_edit") as server:
        made = said(await world.call(edit_image.TOOL, prompt="at dusk", asset_ids=[bird]))

    (path, fields), new = server.asked[0], made["assets"][0]["asset_id"]
    assert path == "/v1/images/edits"
    assert fields == {
        "model": "brush-1",
        "prompt": "at dusk",
        "n": "1",
        "response_format": "b64_json",
        "image": png("bird"),
    }
    assert world.kept(new).body == png("at dusk 0")
    assert world.kept(bird).body == png("bird")


async def test_several_images_go_with_a_mask_whatever_bytes_they_hold(world: ArtifactWorld) -> None:
    bodies = [png("a") + b"\r\n--redshank", png("b"), png("mask")]
    ids = [await stored(world, f"{n}.png", body) for n, body in enumerate(bodies)]

    async with painting(world, "image_edit") as server:
        said(
            await world.call(
                edit_image.TOOL, prompt="one scene", asset_ids=ids[:2], mask_asset_id=ids[2]
            )
        )

    fields = server.asked[0][1]
    assert fields["image[]"] == bodies[:2]
    assert fields["mask"] == bodies[2]


async def test_what_is_no_image_or_not_kept_is_refused_by_its_argument(
    world: ArtifactWorld,
) -> None:
    text = await stored(world, "a.txt", b"text")

    async with painting(world, "image_edit") as server:
        no_image = await world.call(edit_image.TOOL, prompt="a", asset_ids=[text])
        not_kept = await world.call(edit_image.TOOL, prompt="a", asset_ids=["0" * 64])
        with pytest.raises(BadArguments, match=r"asset_ids\[0\].*64 hex digits"):
            await world.call(edit_image.TOOL, prompt="a", asset_ids=["bird.png"])
        with pytest.raises(BadArguments, match="asset_ids must have at least 1 item"):
            await world.call(edit_image.TOOL, prompt="a", asset_ids=[])
        assert server.asked == []

    assert no_image.output == "asset_ids[0]: it is text/plain; name an image"
    assert "asset_ids[0]: this workstream keeps nothing under" in not_kept.output


@pytest.mark.req("K-17")
async def test_a_route_that_only_paints_does_not_edit(world: ArtifactWorld) -> None:
    async with painting(world, "image_generation"):
        with pytest.raises(BadArguments, match="there are none, until the operator"):
            await world.call(edit_image.TOOL, prompt="a", asset_ids=["0" * 64])
