"""Anthropic looks through tools by itself: how it is asked, what of its search goes back."""

import json
from typing import Any

import msgspec
import pytest

from redshank_node.providers.choose import make
from redshank_node.providers.provider import Answer, ModelRequest, Surface
from redshank_shared.domain.events import AskedCall
from redshank_shared.domain.messages import (
    AssistantMessage,
    Message,
    ResultMessage,
    ToolDescription,
    UserMessage,
)
from tests.contract.provider_asking import READ_FILE, settings
from tests.fakes.model_server import Reply, model_server, named

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
WEATHER = ToolDescription("mcp__sky__forecast", "The weather.", EMPTY, deferred=True)
ISSUE = ToolDescription("mcp__forge__issue", "A ticket.", EMPTY, deferred=True)
WAITING = Surface("digest-native", (READ_FILE, WEATHER, ISSUE))
USE = {"type": "server_tool_use", "id": "srv_1", "name": "tool_search_tool_bm25"}
RESULT = {
    "type": "tool_search_tool_result",
    "tool_use_id": "srv_1",
    "content": {
        "type": "tool_search_tool_search_result",
        "tool_references": [
            {"type": "tool_reference", "tool_name": WEATHER.name},
            {"type": "tool_reference", "tool_name": ISSUE.name},
        ],
    },
}
CALL = {"type": "tool_use", "id": "toolu_1", "name": WEATHER.name}


def begins(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def adds(index: int, kind: str, **delta: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **delta}}


def ends(reason: str) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]


SEARCHED = Reply(
    named(
        begins(0, {"type": "text", "text": "I look."}),
        begins(1, USE),
        adds(1, "input_json_delta", partial_json='{"query": '),
        adds(1, "input_json_delta", partial_json='"weather"}'),
        begins(2, RESULT),
        begins(3, CALL),
        adds(3, "input_json_delta", partial_json="{}"),
        *ends("tool_use"),
    ),
    end="keep",
)
SAID = Reply(named(begins(0, {"type": "text", "text": "ok"}), *ends("end_turn")), end="keep")


async def went(
    surface: Surface, *messages: Message, reply: Reply = SEARCHED, **changes: Any
) -> tuple[Answer, dict[str, Any], dict[str, str]]:
    """The answer, the body that was sent, its headers."""
    request = ModelRequest("ws_1", "Be brief.", messages or (UserMessage(1, "Go."),), surface)
    async with model_server(reply) as server:
        provider = make(settings(server, "anthropic", tool_search=True, **changes))
        items = [item async for item in provider.stream(request)]
        await provider.close()
        assert isinstance(items[-1], Answer)
        return items[-1], server.requests[0].body, dict(server.requests[0].headers)


async def replayed(surface: Surface, answer: Answer | None = None, **changes: Any) -> list[Any]:
    """The blocks of an answer that searched, as they go back with this surface."""
    first = answer or (await went(WAITING))[0]
    history = (
        UserMessage(1, "Go."),
        AssistantMessage(2, first.text, (AskedCall("call_1", WEATHER.name),), first.opaque),
        ResultMessage(3, "call_1", WEATHER.name, "Rain.", is_error=False),
    )
    _, body, _ = await went(surface, *history, reply=SAID, **changes)
    blocks: list[Any] = body["messages"][1]["content"]
    return blocks


@pytest.mark.req("T-61")
async def test_what_waits_goes_along_marked_beside_the_providers_search() -> None:
    _, body, headers = await went(WAITING)
    search, read, weather, issue = body["tools"]
    assert search == {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
    assert (read["name"], "defer_loading" in read) == ("read_file", False)
    assert [each["defer_loading"] for each in (weather, issue)] == [True, True]
    # The cache's mark stands on the last tool that is read at once.
    assert [each.get("cache_control") is not None for each in body["tools"]] == [
        False,
        True,
        False,
        False,
    ]
    assert headers["anthropic-beta"] == "advanced-tool-use-2025-11-20"


@pytest.mark.req("T-61")
async def test_where_nothing_waits_there_is_no_search() -> None:
    _, body, _ = await went(Surface("digest-plain", (READ_FILE,)), reply=SAID)
    assert [tool["name"] for tool in body["tools"]] == ["read_file"]


@pytest.mark.req("T-61", "T-62")
async def test_an_answer_tells_what_its_search_has_found() -> None:
    answer, _, _ = await went(WAITING)
    assert answer.found_tools == (WEATHER.name, ISSUE.name)
    assert [call.tool for call in answer.calls] == [WEATHER.name]
    assert answer.text == "I look."


@pytest.mark.req("T-61", "T-62")
async def test_the_blocks_of_a_search_go_back_in_their_places() -> None:
    text, use, result, call = await replayed(WAITING)
    assert text == {"type": "text", "text": "I look."}
    assert use == {**USE, "input": {"query": "weather"}}
    assert result == RESULT
    assert (call["type"], call["id"]) == ("tool_use", "call_1")


@pytest.mark.req("T-61", "T-62")
async def test_a_tool_that_vanished_is_shown_by_no_block() -> None:
    _, _, result, _ = await replayed(Surface("digest-less", (READ_FILE, WEATHER)))
    assert result["content"]["tool_references"] == [
        {"type": "tool_reference", "tool_name": WEATHER.name}
    ]


@pytest.mark.req("T-61")
async def test_where_the_provider_may_not_search_its_searches_are_left_out() -> None:
    shown = msgspec.structs.replace(WEATHER, deferred=False)
    blocks = await replayed(Surface("digest-own", (READ_FILE, shown)))
    assert [block["type"] for block in blocks] == ["text", "tool_use"]


@pytest.mark.req("T-61")
async def test_another_models_searches_are_left_out() -> None:
    blocks = await replayed(WAITING, model="another")
    assert [block["type"] for block in blocks] == ["text", "tool_use"]


@pytest.mark.req("T-61")
async def test_a_search_that_was_cut_off_is_left_out() -> None:
    cut = Reply(
        named(
            begins(0, RESULT),
            begins(1, {"type": "text", "text": "Long."}),
            begins(2, {**USE, "id": "srv_2"}),
            *ends("max_tokens"),
        ),
        end="keep",
    )
    answer, _, _ = await went(WAITING, reply=cut)
    kept = [block["type"] for block in json.loads(answer.opaque)["blocks"]]
    assert kept == ["tool_search_tool_result", "text"]


@pytest.mark.req("T-61")
async def test_a_turn_whose_last_step_only_searched_is_not_asked_to_think() -> None:
    answer, _, _ = await went(WAITING)
    history = (
        UserMessage(1, "Go."),
        AssistantMessage(2, answer.text, (AskedCall("call_1", WEATHER.name),), answer.opaque),
        ResultMessage(3, "call_1", WEATHER.name, "Rain.", is_error=False),
    )
    _, body, _ = await went(WAITING, *history, reply=SAID, thinking_tokens=9000)
    assert "thinking" not in body


@pytest.mark.req("T-61")
async def test_a_failed_search_goes_back_as_it_came() -> None:
    error = {"type": "tool_search_tool_result_error", "error_code": "unavailable"}
    failed = {**RESULT, "content": error}
    reply = Reply(
        named(
            begins(0, USE), begins(1, failed), begins(2, {"type": "text", "text": "No."}),
            *ends("end_turn"),
        ),
        end="keep",
    )  # fmt: skip
    answer, _, _ = await went(WAITING, reply=reply)
    assert answer.found_tools == ()
    blocks = await replayed(WAITING, answer)
    assert blocks[:2] == [{**USE, "input": {}}, failed]
