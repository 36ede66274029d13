"""generate_image, as an agent uses it: images of a configured model become assets."""

import hashlib

import pytest

from redshank_node.tools.builtin import generate_image
from redshank_node.tools.tool import BadArguments
from redshank_shared.domain.artifact_events import AssetsStored
from tests.contract.artifact_world import ArtifactWorld, said
from tests.contract.media_asking import KEY, no_key, painting, route
from tests.fakes.media_server import png

pytest_plugins = ("tests.contract.artifact_fixtures",)
pytestmark = pytest.mark.req("K-16")


async def test_each_image_is_an_asset_of_the_workstream(world: ArtifactWorld) -> None:
    async with painting(world, "image_generation") as server:
        made = said(
            await world.call(generate_image.TOOL, prompt="a redshank", n=2, size="1024x1024")
        )

    bodies = [png("a redshank 0"), png("a redshank 1")]
    digests = ["sha256:" + hashlib.sha256(body).hexdigest() for body in bodies]
    assert made["assets"] == [
        {"asset_id": digest, "media_type": "image/png", "size": 40} for digest in digests
    ]
    assert [world.kept(digest).body for digest in digests] == bodies
    fact = world.last_fact()
    assert isinstance(fact, AssetsStored)
    assert (fact.tool, [asset.name for asset in fact.assets]) == (
        "generate_image",
        ["generate_image-1.png", "generate_image-2.png"],
    )
    assert server.asked == [
        (
            "/v1/images/generations",
            {
                "model": "brush-1",
                "prompt": "a redshank",
                "n": 2,
                "size": "1024x1024",
                "response_format": "b64_json",
            },
        )
    ]
    assert server.keys == [f"Bearer {KEY}"]


@pytest.mark.req("K-17")
async def test_provider_names_a_route_in_the_call_the_backend_in_the_answer(
    world: ArtifactWorld,
) -> None:
    async with painting(world, "image_generation"):
        unnamed = await world.call(generate_image.TOOL, prompt="a")
        named = await world.call(generate_image.TOOL, prompt="a", provider="second")
        assert said(unnamed)["provider"] == said(named)["provider"] == "openai"
        for wrong in ("openai", "other"):
            with pytest.raises(BadArguments, match="there are painter, second"):
                await world.call(generate_image.TOOL, prompt="a", provider=wrong)


async def test_a_model_that_answers_in_base64_alone_is_not_told_so(world: ArtifactWorld) -> None:
    async with painting(world, "image_generation") as server:
        world.media = (route(server.url, "maker", "image_generation", model="gpt-image-1"),)
        said(await world.call(generate_image.TOOL, prompt="a"))

    assert "response_format" not in server.asked[0][1]


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (400, '{"error": {"message": "no  people,\\nplease"}}', "answers 400: no people, please"),
        (500, "<html>", "painter answers 500"),
        (302, "", "painter answers 302"),
    ],
)
async def test_a_refusal_of_the_server_is_told(
    world: ArtifactWorld, status: int, body: str, why: str
) -> None:
    async with painting(world, "image_generation") as server:
        server.refusal = (status, body)
        result = await world.call(generate_image.TOOL, prompt="a")

    assert result.is_error
    assert result.command is None
    assert why in result.output


@pytest.mark.parametrize(
    "raw",
    [b"", b"{}", b'{"data": []}', b'{"data": [{"b64_json": "!"}]}', b'{"data": [{"url": "x"}]}'],
)
async def test_an_answer_that_is_no_image_is_none(world: ArtifactWorld, raw: bytes) -> None:
    async with painting(world, "image_generation") as server:
        server.raw = raw
        result = await world.call(generate_image.TOOL, prompt="a")

    assert result.is_error
    assert result.output.startswith("no image was made: its answer")


async def test_a_missing_key_and_a_silent_host_are_told(world: ArtifactWorld) -> None:
    world.media = (route("http://127.0.0.1:9/v1", "a", "image_generation", find_key=no_key),)
    keyless = await world.call(generate_image.TOOL, prompt="a")
    world.media = (route("http://127.0.0.1:9/v1", "a", "image_generation"),)
    unreached = await world.call(generate_image.TOOL, prompt="a")

    assert "a has no key: the slot model.painter is empty" in keyless.output
    assert "a is not reached" in unreached.output
    assert KEY not in unreached.output
