"""A model behind the responses wire: how it is asked, what is made of its events."""

import base64
import json
from typing import Any

import pytest

from redshank_node.providers.choose import make
from redshank_node.providers.openai import OpenAI
from redshank_node.providers.provider import Answer, Delta, ModelRequest, Surface
from redshank_node.providers.responses import Responses
from redshank_shared.domain.events import AskedCall
from redshank_shared.domain.images import KeptImage
from redshank_shared.domain.messages import (
    AssistantMessage,
    Message,
    ResultMessage,
    ToolDescription,
    UserMessage,
)
from tests.contract.provider_asking import KEY, READ_FILE, asked, failed, settings
from tests.fakes.model_server import Reply, model_server, named

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
WEATHER = ToolDescription("mcp__sky__forecast", "The weather.", EMPTY, deferred=True)
STORM = ToolDescription("mcp__sky__storms", "Storms.", EMPTY, deferred=True)
ISSUE = ToolDescription("mcp__forge__issue", "A ticket.", EMPTY, deferred=True)
WEB = ToolDescription("web_search", "Search the web.", EMPTY)
WAITING = Surface("digest-native", (READ_FILE, WEATHER, ISSUE, STORM))

THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Look first."}],
    "encrypted_content": "sealed",
}
SEARCH = {
    "type": "tool_search_call",
    "id": "tsc_1",
    "call_id": None,
    "execution": "server",
    "arguments": {"paths": ["sky"]},
    "status": "completed",
}


def loaded(*namespaces: tuple[str, list[ToolDescription]]) -> dict[str, Any]:
    return {
        "type": "tool_search_output",
        "id": "tso_1",
        "call_id": None,
        "execution": "server",
        "status": "completed",
        "tools": [
            {
                "type": "namespace",
                "name": server,
                "description": "d",
                "tools": [{"type": "function", "name": tool.name} for tool in tools],
            }
            for server, tools in namespaces
        ],
    }


FOUND = loaded(("sky", [WEATHER, STORM]))
SAID = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
}
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_theirs",
    "name": WEATHER.name,
    "namespace": "sky",
    "arguments": '{"place": "Marsh"}',
    "status": "completed",
}
USAGE = {"input_tokens": 30, "output_tokens": 7, "input_tokens_details": {"cached_tokens": 20}}


def response(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "object": "response",
        "status": "completed",
        "output": list(items),
        "usage": USAGE,
        **more,
    }


def streamed(*items: dict[str, Any], end: str = "completed", **more: Any) -> Reply:
    """The events of a response with these items."""
    begun: list[dict[str, Any]] = [{"type": "response.created", "response": {"status": "queued"}}]
    for place, item in enumerate(items):
        begun.append({"type": "response.output_item.added", "output_index": place, "item": {}})
        for part in item.get("content", ()):
            for piece in part.get("text", "").partition(" "):
                delta = {"output_index": place, "content_index": 0, "delta": piece}
                begun.append({"type": "response.output_text.delta", **delta})
        for part in item.get("summary", ()):
            delta = {"output_index": place, "delta": part["text"]}
            begun.append({"type": "response.reasoning_summary_text.delta", **delta})
        begun.append({"type": "response.output_item.done", "output_index": place, "item": item})
    status = "incomplete" if end == "incomplete" else end
    last = {"type": f"response.{end}", "response": response(*items, status=status, **more)}
    return Reply(named(*begun, last), end="keep")


PLAIN = streamed(SAID)


async def went(
    surface: Surface,
    *messages: Message,
    reply: Reply = PLAIN,
    own_search: str = "",
    images: dict[str, bytes] | None = None,
    **changes: Any,
) -> tuple[Answer, dict[str, Any]]:
    """The answer, the body that was sent."""
    request = ModelRequest(
        "ws_1",
        "Be brief.",
        messages or (UserMessage(1, "Go."),),
        surface,
        own_search,
        images or {},
        "Pinned.",
    )
    async with model_server(reply) as server:
        provider = make(settings(server, "responses", **changes))
        items = [item async for item in provider.stream(request)]
        await provider.close()
        assert isinstance(items[-1], Answer)
        return items[-1], server.requests[0].body


async def replayed(surface: Surface, *items: dict[str, Any], **changes: Any) -> list[Any]:
    """How an answer of these items goes back with this surface."""
    first, _ = await went(WAITING, reply=streamed(*items))
    history = (
        UserMessage(1, "Go."),
        AssistantMessage(
            2, first.text, (AskedCall("call_ours", WEATHER.name, '{"place":"Fen"}'),), first.opaque
        ),
        ResultMessage(3, "call_ours", WEATHER.name, "Rain.", is_error=False),
    )
    _, body = await went(surface, *history, **changes)
    sent: list[Any] = body["input"][1:-2]
    return sent


@pytest.mark.req("T-61")
async def test_a_model_of_openai_that_searches_is_asked_over_this_wire() -> None:
    for searches, kind in ((True, Responses), (False, OpenAI)):
        provider = make(settings("http://127.0.0.1:9", "openai", tool_search=searches))
        assert type(provider) is kind
        await provider.close()


@pytest.mark.req("T-61")
async def test_a_question_says_all_and_leaves_nothing_there() -> None:
    async with model_server(PLAIN) as server:
        await asked(server, "responses")
        request = server.requests[0]
    assert request.path == "/v1/responses"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "m",
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 8192,
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": "Go."}],
        "tools": [
            {
                "type": "function",
                "name": "read_file",
                "description": READ_FILE.description,
                "parameters": READ_FILE.parameters,
                "strict": False,
            }
        ],
    }


@pytest.mark.req("T-61")
async def test_what_waits_goes_along_in_a_namespace_for_each_server() -> None:
    _, body = await went(WAITING)
    read, search, sky, forge = body["tools"]
    assert (read["name"], search) == ("read_file", {"type": "tool_search"})
    assert [(each["type"], each["name"]) for each in (sky, forge)] == [
        ("namespace", "sky"),
        ("namespace", "forge"),
    ]
    assert [tool["name"] for tool in sky["tools"]] == [WEATHER.name, STORM.name]
    assert all(tool["defer_loading"] for each in (sky, forge) for tool in each["tools"])


@pytest.mark.req("T-31")
async def test_its_own_search_of_the_web_stands_in_the_tools_place() -> None:
    cited = {"type": "url_citation", "url": "https://birds.example", "title": "Birds"}
    part = {"type": "output_text", "text": "In grass.", "annotations": [cited]}
    reply = streamed({**SAID, "content": [part]})
    answer, body = await went(
        Surface("digest-web", (READ_FILE, WEB)), reply=reply, own_search="web_search"
    )
    assert body["tools"][1] == {"type": "web_search"}
    assert answer.text == "In grass.\n\nSources:\n- Birds: https://birds.example"


@pytest.mark.req("T-61", "T-62")
async def test_an_answer_has_its_text_its_calls_what_was_found_what_it_used() -> None:
    async with model_server(streamed(THOUGHT, SEARCH, FOUND, SAID, CALL)) as server:
        answer, shown = await asked(server, "responses")
    assert (answer.text, answer.finish, answer.reasoning) == (
        "I look.",
        "tool_calls",
        "Look first.",
    )
    (call,) = answer.calls
    assert (call.provider_id, call.tool, call.error) == ("call_theirs", WEATHER.name, "")
    assert json.loads(call.arguments) == {"place": "Marsh"}
    assert answer.found_tools == (WEATHER.name, STORM.name)
    assert (answer.input_tokens, answer.output_tokens, answer.cached_tokens) == (30, 7, 20)
    assert "".join(delta.text for delta in shown if delta.channel == "text") == "I look."
    assert [delta.text for delta in shown if delta.channel == "reasoning"] == ["Look first."]


@pytest.mark.req("T-61", "T-62")
async def test_the_items_of_a_search_go_back_in_their_places() -> None:
    thought, search, found, said, call = await replayed(WAITING, THOUGHT, SEARCH, FOUND, SAID, CALL)
    assert (thought, search, found, said) == (THOUGHT, SEARCH, FOUND, SAID)
    assert call == {
        "type": "function_call",
        "namespace": "sky",
        "call_id": "call_ours",
        "name": WEATHER.name,
        "arguments": '{"place":"Fen"}',
    }


@pytest.mark.req("T-61", "T-62")
async def test_a_tool_that_vanished_is_loaded_by_no_item() -> None:
    surface = Surface("digest-less", (READ_FILE, WEATHER))
    both = loaded(("sky", [WEATHER, STORM]), ("forge", [ISSUE]))
    _, found, _ = await replayed(surface, SEARCH, both, CALL)
    assert found["tools"] == loaded(("sky", [WEATHER]))["tools"]


@pytest.mark.req("T-61")
async def test_without_the_search_its_items_are_left_out_with_the_thinking_before() -> None:
    shown = Surface("digest-own", (READ_FILE,))
    other = {**THOUGHT, "id": "rs_2"}
    items = await replayed(shown, THOUGHT, SEARCH, FOUND, other, CALL)
    assert [item["type"] for item in items] == ["reasoning", "function_call"]
    assert items[0] == other
    assert "namespace" not in items[1]


@pytest.mark.req("T-61")
async def test_another_models_items_are_left_out() -> None:
    items = await replayed(WAITING, THOUGHT, SEARCH, FOUND, SAID, CALL, model="another")
    assert items[0] == {"role": "assistant", "content": "I look."}
    assert [item["type"] for item in items[1:]] == ["function_call"]


@pytest.mark.req("T-61")
async def test_an_answer_of_text_alone_keeps_nothing_of_its_own() -> None:
    answer, _ = await went(WAITING)
    assert answer.opaque == ""
    history = (UserMessage(1, "Go."), AssistantMessage(2, "I look."), UserMessage(3, "And?"))
    _, body = await went(WAITING, *history)
    assert body["input"] == [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "I look."},
        {"role": "user", "content": "And?"},
        {"role": "user", "content": "Pinned."},
    ]


@pytest.mark.req("T-61", "T-22")
async def test_results_go_back_under_our_ids_with_their_images() -> None:
    image = KeptImage("sha-1", "image/png", 4)
    history = (
        UserMessage(1, "Go."),
        AssistantMessage(2, "", (AskedCall("call_a", "read_file"), AskedCall("call_b", "x y"))),
        ResultMessage(3, "call_a", "read_file", "A picture.", is_error=False, images=(image,)),
        ResultMessage(4, "call_b", "x y", "none", is_error=True),
    )
    _, body = await went(WAITING, *history, images={"sha-1": b"png!"})
    _, first, second, seen, wrong, _ = body["input"]
    assert (first["call_id"], second["name"]) == ("call_a", "x_y")
    data = base64.b64encode(b"png!").decode()
    assert seen["output"] == [
        {"type": "input_text", "text": "A picture."},
        {"type": "input_image", "image_url": f"data:image/png;base64,{data}"},
    ]
    assert wrong == {
        "type": "function_call_output",
        "call_id": "call_b",
        "output": "Error: none",
    }


@pytest.mark.req("T-61")
async def test_an_answer_that_ran_into_its_length_says_so_of_its_last_call() -> None:
    cut = {**CALL, "arguments": '{"place": "Ma', "status": "incomplete"}
    reply = streamed(
        THOUGHT, cut, {**THOUGHT, "id": "rs_2"}, end="incomplete",
        incomplete_details={"reason": "max_output_tokens"},
    )  # fmt: skip
    answer, _ = await went(WAITING, reply=reply)
    assert answer.finish == "length"
    assert "cut off" in answer.calls[0].error
    kept = [item["type"] for item in json.loads(answer.opaque)["items"]]
    assert kept == ["reasoning", "function_call"]


@pytest.mark.req("T-61")
async def test_a_refusal_is_an_answer() -> None:
    refused = {**SAID, "content": [{"type": "refusal", "refusal": "I will not."}]}
    answer, _ = await went(WAITING, reply=streamed(refused))
    assert (answer.text, answer.finish) == ("I will not.", "refused")


@pytest.mark.req("T-61")
async def test_a_server_that_does_not_stream_is_understood() -> None:
    body = json.dumps(response(THOUGHT, SAID, CALL)).encode()
    async with model_server(Reply([body], content_type="application/json")) as server:
        answer, shown = await asked(server, "responses")
    assert (answer.text, len(answer.calls)) == ("I look.", 1)
    assert shown == [Delta("text", "I look.")]


@pytest.mark.fault("F46")
@pytest.mark.parametrize(
    ("reply", "code", "retry"),
    [
        (Reply(named({"type": "response.created", "response": {}})), "model_stream_cut", True),
        (streamed(), "model_empty", True),
        (
            streamed(end="failed", error={"code": "rate_limit_exceeded", "message": "slow"}),
            "model_rate_limited",
            True,
        ),
        (
            Reply(named({"type": "error", "code": "server_error", "message": "it broke"})),
            "model_error",
            True,
        ),
        (Reply([b"data: {no json\n\n"]), "model_error", True),
        (Reply([b"data: 7\n\n"]), "model_error", True),
        (Reply([b"<html>no</html>"], content_type="text/html"), "model_error", False),
        (Reply([b'{"error":{"message":"no such model"}}'], status=404), "model_not_found", False),
        (Reply([b'{"error":{"message":"bad key"}}'], status=401), "model_refused_key", False),
        (
            streamed(end="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "model_empty",
            False,
        ),
    ],
)
async def test_what_goes_wrong_is_named_with_whether_to_ask_again(
    reply: Reply, code: str, retry: bool
) -> None:
    async with model_server(reply) as server:
        failure = await failed(server, "responses")
    assert (failure.code, failure.retry) == (code, retry)


@pytest.mark.fault("F46")
async def test_events_that_make_no_sense_are_passed_over() -> None:
    odd: list[dict[str, Any]] = [
        {"type": "response.output_item.done", "output_index": "x", "item": 3},
        {"type": "response.output_text.delta", "delta": {"no": "text"}},
        {"type": "response.of_the_future", "delta": "?"},
        {"type": "response.output_item.done", "output_index": 1, "item": {"type": "reasoning"}},
        {"type": "response.output_item.done", "output_index": 0, "item": SAID},
        {"type": "response.output_item.done", "output_index": 2, "item": {"type": "message"}},
        {
            "type": "response.output_item.done",
            "output_index": 3,
            "item": {"type": "tool_search_output", "tools": [7, {"type": "namespace"}]},
        },
        {"type": "response.completed", "response": {"usage": 3, "output": None}},
    ]
    answer, _ = await went(WAITING, reply=Reply(named(*odd), end="keep"))
    assert (answer.text, answer.found_tools, answer.input_tokens) == ("I look.", (), 0)
