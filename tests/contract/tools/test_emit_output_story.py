"""emit_output, as an agent uses it: text with kept assets, in order."""

from typing import Any

import pytest

from redshank_node.tools.builtin import emit_output, store_asset
from redshank_node.tools.tool import BadArguments
from redshank_shared.domain.artifact_events import AssetPart, OutputEmitted, TextPart
from redshank_shared.domain.commands import EmitOutput
from redshank_shared.domain.decide import decided
from redshank_shared.domain.errors import Invalid
from tests.contract.artifact_world import ArtifactWorld, said
from tests.store_fixtures import AT

pytest_plugins = ("tests.contract.artifact_fixtures",)
pytestmark = pytest.mark.req("K-14")


async def stored(world: ArtifactWorld, name: str = "report.txt") -> AssetPart:
    world.write(name, name)
    asset = said(await world.call(store_asset.TOOL, path=name))
    return AssetPart(asset["asset_id"], asset["media_type"], asset["size"])


async def test_content_comes_first_then_the_parts_then_the_artifacts(world: ArtifactWorld) -> None:
    report, chart = await stored(world), await stored(world, "chart.csv")

    result = await world.call(
        emit_output.TOOL,
        content="All done.",
        parts=[
            {"type": "text", "text": "See"},
            {"type": "asset", "asset_id": report.asset_id},
            {"type": "text", "text": "and"},
        ],
        artifact_ids=[chart.asset_id],
    )

    assert said(result) == {
        "delivered": True,
        "parts": 5,
        "asset_ids": [report.asset_id, chart.asset_id],
    }
    parts = (TextPart("All done."), TextPart("See"), report, TextPart("and"), chart)
    assert world.last_fact() == OutputEmitted("call_7", parts, inline=False)


@pytest.mark.parametrize("inline", [True, False])
async def test_assets_are_shown_where_they_stand_if_that_is_asked(
    world: ArtifactWorld, inline: bool
) -> None:
    report = await stored(world)

    await world.call(
        emit_output.TOOL, artifact_ids=[report.asset_id], include_artifacts_inline=inline
    )

    assert world.last_fact() == OutputEmitted("call_7", (report,), inline=inline)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"content": ""},
        {"content": " \n"},
        {"parts": []},
        {"artifact_ids": []},
        {"parts": [{"type": "text", "text": ""}]},
        {"content": "", "parts": [], "artifact_ids": [], "include_artifacts_inline": True},
    ],
)
async def test_an_empty_output_fails(world: ArtifactWorld, arguments: dict[str, Any]) -> None:
    with pytest.raises(BadArguments, match="content: it is empty"):
        await world.call(emit_output.TOOL, **arguments)


async def test_an_empty_output_is_recorded_on_no_road(world: ArtifactWorld) -> None:
    with pytest.raises(Invalid) as refused:
        decided(world.state(), EmitOutput("call_7", (TextPart(" "),)), AT)

    assert (refused.value.code, refused.value.field) == ("empty_output", "content")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"parts": [{"type": "text"}]}, r"parts\[0\]: a part of type text has text"),
        ({"parts": [{"type": "asset", "text": "a"}]}, r"parts\[0\]: a part of type asset has"),
        (
            {"parts": [{"type": "text", "text": "a", "asset_id": "b"}]},
            r"parts\[0\]: a part of type text has text, and no asset_id",
        ),
        ({"parts": [{"type": "image"}]}, r"parts\[0\].type must be one of text, asset"),
        ({"parts": [{"type": "asset", "asset_id": "12"}]}, r"parts\[0\].asset_id.*64 hex digits"),
        ({"artifact_ids": ["12"]}, r"artifact_ids\[0\].*64 hex digits"),
        ({"text": "a"}, "text is not an argument of this tool"),
    ],
)
async def test_a_wrong_part_is_named(
    world: ArtifactWorld, arguments: dict[str, Any], why: str
) -> None:
    with pytest.raises(BadArguments, match=why):
        await world.call(emit_output.TOOL, **arguments)


async def test_an_asset_that_the_workstream_does_not_keep_is_refused(world: ArtifactWorld) -> None:
    unknown = "sha256:" + "0" * 64

    result = await world.call(emit_output.TOOL, content="a", artifact_ids=[unknown])

    assert result.is_error
    assert result.command is None
    assert f"artifact_ids[0]: this workstream keeps nothing under {unknown}" in result.output
