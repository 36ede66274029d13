"""What is sent to a model server: the conversation in the order and form that it demands."""

import json

import pytest

from redshank_node.providers.choose import make
from redshank_node.providers.provider import ModelRequest, Surface
from redshank_shared.domain.events import AskedCall
from redshank_shared.domain.messages import (
    AssistantMessage,
    Message,
    ResultMessage,
    ToolDescription,
    UserMessage,
)
from tests.contract.provider_asking import KEY, READ_FILE, asked, question, settings
from tests.fakes.model_server import Reply, chunk, events, model_server, named

_DONE = events(chunk({"content": "ok"}, "stop"), "[DONE]")
_STOPPED = named(
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "ok"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    {"type": "message_stop"},
)


def _reply(wire: str) -> Reply:
    return Reply(_DONE if wire == "openai" else _STOPPED, end="keep")


async def _sent(wire: str, *messages: Message, **changes: object) -> dict[str, object]:
    async with model_server(_reply(wire)) as server:
        await asked(server, wire, *messages, **changes)
        body: dict[str, object] = server.requests[0].body
        return body


def _called(seq: int, *call_ids: str, arguments: str = '{"path":"a"}') -> AssistantMessage:
    calls = tuple(AskedCall(call_id, "read_file", arguments) for call_id in call_ids)
    return AssistantMessage(seq, "", calls)


async def test_a_chat_completion_is_asked_for_as_a_stream_with_its_usage() -> None:
    async with model_server(_reply("openai")) as server:
        await asked(server, "openai")
        request = server.requests[0]
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 8192,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Go."},
        ],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read_file",
                    "description": "Reads a file.",
                    "parameters": READ_FILE.parameters,
                },
            }
        ],
        "parallel_tool_calls": True,
    }


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
async def test_a_message_is_asked_for_with_its_cache_marks(ending: str) -> None:
    async with model_server(_reply("anthropic")) as server:
        await asked(server, "anthropic", base_url=server.url + ending)
        request = server.requests[0]
    cached = {"type": "ephemeral"}
    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert request.body == {
        "model": "m",
        "stream": True,
        "max_tokens": 8192,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": cached}],
        "tools": [
            {
                "name": "read_file",
                "description": "Reads a file.",
                "input_schema": READ_FILE.parameters,
                "cache_control": cached,
            }
        ],
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "Go.", "cache_control": cached}],
            }
        ],
    }


@pytest.mark.fault("F19")
@pytest.mark.fault("F40")
async def test_each_call_is_followed_by_one_result_even_where_one_is_missing() -> None:
    body = await _sent(
        "openai",
        UserMessage(1, "Go."),
        _called(2, "call_a", "call_b"),
        UserMessage(3, "Hurry."),
        ResultMessage(4, "call_a", "read_file", "boom", True),
        ResultMessage(5, "call_z", "read_file", "of no call", False),
        AssistantMessage(6, ""),
    )
    messages = body["messages"]
    assert isinstance(messages, list)
    assert [message["role"] for message in messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
        "user",
    ]
    assert messages[3] == {"role": "tool", "tool_call_id": "call_a", "content": "Error: boom"}
    assert messages[4]["tool_call_id"] == "call_b"
    assert "No result" in messages[4]["content"]


@pytest.mark.fault("F19")
async def test_neighbouring_words_and_results_are_one_message_on_the_anthropic_wire() -> None:
    body = await _sent(
        "anthropic",
        UserMessage(1, "One."),
        UserMessage(2, "Two."),
        _called(3, "call_a"),
        ResultMessage(4, "call_a", "read_file", "boom", True),
        UserMessage(5, "Three."),
    )
    assert body["messages"] == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "call_a", "name": "read_file", "input": {"path": "a"}}
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "call_a",
                    "content": "boom",
                    "is_error": True,
                },
                {"type": "text", "text": "Three.", "cache_control": {"type": "ephemeral"}},
            ],
        },
    ]


@pytest.mark.fault("F46")
@pytest.mark.parametrize(
    ("arguments", "sent"), [('{"path": "a', {}), ('"a.txt"', {"input": "a.txt"}), ("[1]", {})]
)
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_arguments_that_were_not_whole_go_back_as_an_object(
    wire: str, arguments: str, sent: dict[str, str]
) -> None:
    body = await _sent(wire, UserMessage(1, "Go."), _called(2, "call_a", arguments=arguments))
    text = json.dumps(body["messages"])
    if wire == "openai":
        assert json.dumps(json.dumps(sent, separators=(",", ":"))) in text
    else:
        assert f'"input": {json.dumps(sent)}' in text


async def test_thinking_goes_back_to_an_openai_server_only_inside_the_turn() -> None:
    parts = events(
        chunk({"reasoning_content": "Hm."}),
        chunk({"tool_calls": [{"id": "c", "function": {"name": "read_file"}}]}, "tool_calls"),
    )
    async with model_server(Reply(parts), _reply("openai")) as server:
        answer, _ = await asked(server, "openai")
        call = AskedCall("call_a", "read_file", "{}")
        history: list[Message] = [
            UserMessage(1, "Go."),
            AssistantMessage(2, "", (call,), answer.opaque),
            ResultMessage(3, "call_a", "read_file", "ay", False),
        ]
        await asked(server, "openai", *history)
        await asked(server, "openai", *history, UserMessage(4, "On."))
        await asked(server, "openai", *history, model="another")
        sent = [
            request.body["messages"][2].get("reasoning_content") for request in server.requests[1:]
        ]
    assert sent == ["Hm.", None, None]


async def test_thinking_is_not_asked_for_inside_a_turn_that_began_without() -> None:
    history = (
        UserMessage(1, "Go."),
        _called(2, "call_a"),
        ResultMessage(3, "call_a", "read_file", "ay", False),
    )
    begun = await _sent("anthropic", UserMessage(1, "Go."), thinking_tokens=9000)
    assert begun["thinking"] == {"type": "enabled", "budget_tokens": 9000}
    assert begun["max_tokens"] == 8192 + 9000
    inside = await _sent("anthropic", *history, thinking_tokens=9000)
    assert "thinking" not in inside


async def test_a_history_with_calls_names_their_tools_where_no_tool_is_offered() -> None:
    async with model_server(_reply("anthropic")) as server:
        provider = make(settings(server, "anthropic"))
        messages = (UserMessage(1, "Go."), _called(2, "call_a"), UserMessage(3, "Sum up."))
        request = ModelRequest("ws_1", "", messages, Surface("none", ()))
        assert [item async for item in provider.stream(request)]
        await provider.close()
        body = server.requests[0].body
    assert body["tools"] == [{"name": "read_file", "input_schema": {"type": "object"}}]
    assert body["tool_choice"] == {"type": "none"}
    assert "system" not in body


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_one_connection_serves_a_models_requests_and_parts_are_encoded_once(
    wire: str,
) -> None:
    async with model_server(_reply(wire)) as server:
        provider = make(settings(server, wire))
        for text in ("Go.", "Go.", "Sum up."):
            stream = provider.stream(question(UserMessage(1, text)))
            assert [item async for item in stream]
        await provider.close()
        requests = server.requests
    assert {request.connection for request in requests} == {1}
    assert requests[0].raw == requests[1].raw
    assert "Sum up." in requests[2].raw.decode(), "a summary may stand under a message's number"


@pytest.mark.fault("F43")
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_what_utf_8_cannot_carry_does_not_stop_a_request(wire: str) -> None:
    body = await _sent(wire, UserMessage(1, "half \ud83d, NUL \0"))
    assert "half ?, NUL \\u0000" in json.dumps(body["messages"])


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_a_name_that_a_model_made_up_goes_back_in_a_form_that_is_taken(wire: str) -> None:
    call = AskedCall("call_a", "functions.read file", "{}")
    body = await _sent(wire, UserMessage(1, "Go."), AssistantMessage(2, "", (call,)))
    assert '"name": "functions_read_file"' in json.dumps(body["messages"])


async def test_a_tool_without_parameters_is_sent_as_one_that_takes_an_object() -> None:
    async with model_server(_reply("openai")) as server:
        provider = make(settings(server, "openai"))
        surface = Surface("digest-2", (ToolDescription("get_goal", "Says the goal.", {}),))
        request = ModelRequest("ws_1", "", (UserMessage(1, "Go."),), surface)
        assert [item async for item in provider.stream(request)]
        await provider.close()
        function = server.requests[0].body["tools"][0]["function"]
    assert function["parameters"] == {"type": "object", "properties": {}}
