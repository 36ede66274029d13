"""Images and open files as they are sent to a model server."""

import base64
from typing import Any

import msgspec
import pytest

from redshank_node.engine.kept_images import newest
from redshank_node.providers.choose import make
from redshank_shared.domain.events import AskedCall
from redshank_shared.domain.images import ImageType, KeptImage
from redshank_shared.domain.messages import AssistantMessage, Message, ResultMessage, UserMessage
from tests.contract.provider_asking import question, settings
from tests.fakes.model_server import Reply, chunk, events, model_server, named

DONE = {
    "openai": events(chunk({"content": "ok"}, "stop"), "[DONE]"),
    "anthropic": named(
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "text", "text": "ok"},
        },
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
        {"type": "message_stop"},
    ),
}
CALLS = (AskedCall("c1", "read_file"), AskedCall("c2", "read_file"))


def image(name: str, media_type: ImageType = "image/png", size: int = 3) -> KeptImage:
    return KeptImage(f"sha256:{name}", media_type, size)


def history(first: KeptImage, second: KeptImage) -> tuple[Message, ...]:
    return (
        UserMessage(1, "Look."),
        AssistantMessage(2, "", CALLS),
        ResultMessage(3, "c1", "read_file", "one", False, (first,)),
        ResultMessage(4, "c2", "read_file", "two", False, (second,)),
    )


async def sent(wire: str, messages: tuple[Message, ...], **more: Any) -> list[dict[str, Any]]:
    async with model_server(Reply(DONE[wire], end="keep")) as server:
        provider = make(settings(server, wire))
        try:
            request = msgspec.structs.replace(question(*messages), **more)
            async for _ in provider.stream(request):
                pass
        finally:
            await provider.close()
        body: list[dict[str, Any]] = server.requests[0].body["messages"]
        return body


@pytest.mark.req("T-22")
async def test_chat_completions_get_the_images_behind_all_results_of_an_answer() -> None:
    messages = history(image("a"), image("b", "image/gif"))
    body = await sent("openai", messages, images={"sha256:a": b"aaa", "sha256:b": b"bbb"})
    assert [message["role"] for message in body[1:]] == [
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
    ]
    assert [part.get("image_url") for part in body[-1]["content"]] == [
        None,
        {"url": "data:image/png;base64," + base64.b64encode(b"aaa").decode()},
        {"url": "data:image/gif;base64," + base64.b64encode(b"bbb").decode()},
    ]


@pytest.mark.req("T-22")
async def test_messages_get_each_image_inside_its_own_result() -> None:
    messages = history(image("a"), image("b", "image/bmp"))
    body = await sent("anthropic", messages, images={"sha256:a": b"aaa", "sha256:b": b"bbb"})
    first, second = body[-1]["content"]
    source = {"type": "base64", "media_type": "image/png", "data": "YWFh"}
    assert first["content"] == [
        {"type": "text", "text": "one"},
        {"type": "image", "source": source},
    ]
    assert second["content"] == "two", "this server takes no BMP"


@pytest.mark.req("T-23")
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_without_the_bytes_the_words_stay(wire: str) -> None:
    body = await sent(wire, history(image("a"), image("b")))
    assert "image" not in str(body)
    assert "one" in str(body)


@pytest.mark.req("C-22")
async def test_open_files_stand_behind_everything_and_are_not_marked_for_the_cache() -> None:
    messages = (UserMessage(1, "Look."),)
    body = await sent("openai", messages, pinned="Open files")
    assert body[1:] == [
        {"role": "user", "content": "Look."},
        {"role": "user", "content": "Open files"},
    ]
    body = await sent("anthropic", messages, pinned="Open files")
    assert body == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look.", "cache_control": {"type": "ephemeral"}},
                {"type": "text", "text": "Open files"},
            ],
        }
    ]


@pytest.mark.req("T-22")
def test_one_question_carries_the_newest_images_within_its_bounds() -> None:
    many = [ResultMessage(n, f"c{n}", "read_file", "x", False, (image(str(n)),)) for n in range(30)]
    assert [one.digest for one in newest(many)] == [f"sha256:{n}" for n in range(29, 9, -1)]
    large = [
        ResultMessage(n, f"c{n}", "read_file", "x", False, (image(str(n), size=4 << 20),))
        for n in range(6)
    ]
    assert [one.digest for one in newest(large)] == [f"sha256:{n}" for n in (5, 4, 3, 2)]
    assert newest([many[0], many[0]]) == [image("0")]
