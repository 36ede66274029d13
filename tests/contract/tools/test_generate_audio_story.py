"""generate_audio, as an agent uses it: a text, spoken, becomes an asset."""

import pytest

from redshank_node.engine.toolsets import capabilities
from redshank_node.tools.builtin import edit_image, generate_audio, generate_image
from redshank_node.tools.tool import BadArguments
from redshank_shared.settings.sections import Capabilities, Model
from tests.contract.artifact_world import ArtifactWorld, said
from tests.contract.media_asking import painting
from tests.fakes.media_server import SOUND

pytest_plugins = ("tests.contract.artifact_fixtures",)
pytestmark = pytest.mark.req("K-16")


async def test_speech_is_an_asset_in_the_format_that_was_asked(world: ArtifactWorld) -> None:
    async with painting(world, "audio_generation") as server:
        usual = said(await world.call(generate_audio.TOOL, text="High water at 8:15."))
        chosen = said(
            await world.call(generate_audio.TOOL, text="Ebb", voice="wren", format="wav", speed=1.5)
        )

    assert [usual["assets"][0]["media_type"], chosen["assets"][0]["media_type"]] == [
        "audio/mpeg",
        "audio/wav",
    ]
    assert usual["provider"] == "openai"
    assert world.kept(usual["assets"][0]["asset_id"]).body == SOUND
    assert [path for path, _ in server.asked] == ["/v1/audio/speech"] * 2
    assert [fields for _, fields in server.asked] == [
        {
            "model": "brush-1",
            "input": "High water at 8:15.",
            "voice": "alloy",
            "response_format": "mp3",
        },
        {
            "model": "brush-1",
            "input": "Ebb",
            "voice": "wren",
            "response_format": "wav",
            "speed": 1.5,
        },
    ]


async def test_an_answer_without_sound_is_none(world: ArtifactWorld) -> None:
    async with painting(world, "audio_generation") as server:
        for raw in (b"", b'{"error": "quota"}', b"\n<html>no"):
            server.raw = raw
            result = await world.call(generate_audio.TOOL, text="a")
            assert result.output == "no sound was made: painter answers without sound"


async def test_a_wrong_format_is_named(world: ArtifactWorld) -> None:
    with pytest.raises(BadArguments, match="format must be one of mp3, wav"):
        await world.call(generate_audio.TOOL, text="a", format="ogg")


@pytest.mark.req("K-8")
def test_a_media_tool_is_there_only_where_a_route_can_do_it() -> None:
    can = Capabilities(audio_generation=True)
    known = capabilities([Model("openai", name="voice", capabilities=can)])

    tools = (generate_audio.TOOL, generate_image.TOOL, edit_image.TOOL)
    assert [tool.availability in known for tool in tools] == [True, False, False]
    assert not any(tool.availability in capabilities([Model("demo")]) for tool in tools)
