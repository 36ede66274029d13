"""respond, as an agent uses it: what it says, with what, whether its turn ends."""

import pytest

from redshank_node.tools.builtin import respond, store_asset
from redshank_node.tools.tool import BadArguments
from redshank_shared.domain.artifact_events import AssetPart, OutputEmitted, TextPart
from tests.contract.artifact_world import ArtifactWorld, said

pytest_plugins = ("tests.contract.artifact_fixtures",)
pytestmark = pytest.mark.req("C-9")


async def test_it_is_final_where_nothing_else_is_said(world: ArtifactWorld) -> None:
    result = await world.call(respond.TOOL, content="Low tide at noon.")

    assert said(result) == {"sent": True, "final": True}
    assert world.last_fact() == OutputEmitted(
        "call_7", (TextPart("Low tide at noon."),), final=True
    )


async def test_one_that_is_not_final_says_so_in_the_log(world: ArtifactWorld) -> None:
    await world.call(respond.TOOL, content="Still looking.", final=False)

    assert world.last_fact() == OutputEmitted("call_7", (TextPart("Still looking."),))


async def test_kept_assets_go_along(world: ArtifactWorld) -> None:
    world.write("tides.csv", "noon,0.4\n")
    asset = said(await world.call(store_asset.TOOL, path="tides.csv"))

    await world.call(respond.TOOL, content="The table.", attachments=[asset["asset_id"]])

    table = AssetPart(asset["asset_id"], asset["media_type"], asset["size"])
    assert world.last_fact() == OutputEmitted("call_7", (TextPart("The table."), table), final=True)


async def test_an_asset_that_is_not_kept_is_refused_by_its_place(world: ArtifactWorld) -> None:
    unknown = "sha256:" + "0" * 64

    result = await world.call(respond.TOOL, content="The table.", attachments=[unknown])

    assert (result.is_error, result.command) == (True, None)
    assert result.output.startswith("attachments[0]: ")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({}, "content"),
        ({"content": " \n"}, "content"),
        ({"content": "x", "channel": "discord:1"}, "channel"),
        ({"content": "x", "attachments": ["not a digest"]}, "attachments[0]"),
    ],
)
async def test_what_cannot_be_said_is_refused_by_its_argument(
    world: ArtifactWorld, arguments: dict[str, object], named: str
) -> None:
    with pytest.raises(BadArguments, match=rf"^{named.replace('[', '.').replace(']', '.')}"):
        await world.call(respond.TOOL, **arguments)
