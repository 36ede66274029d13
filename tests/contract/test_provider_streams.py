"""The recorded streams become exactly what their table says."""

import json
import pathlib
import tomllib
from typing import Any

import pytest

from redshank_node.providers.sse import EventSplitter
from redshank_shared.domain.events import AskedCall
from redshank_shared.domain.messages import AssistantMessage, Message, ResultMessage, UserMessage
from tests.contract.provider_asking import asked, failed
from tests.fakes.model_server import Reply, model_server

_FOLDER = pathlib.Path(__file__).parent / "cases" / "streams"
_CASES = tomllib.loads((_FOLDER / "expected.toml").read_text())["stream"]
_COMPLETE = [case for case in _CASES if case["outcome"] == "complete"]
_FAILED = [case for case in _CASES if case["outcome"] == "failed"]


def _parts(case: dict[str, Any]) -> list[bytes]:
    data = (_FOLDER / case["file"]).read_bytes()
    ends = [0, *case.get("parts", []), len(data)]
    return [data[start:end] for start, end in zip(ends, ends[1:], strict=False)]


@pytest.mark.fault("F46")
@pytest.mark.parametrize("case", _COMPLETE, ids=lambda case: case["id"])
async def test_a_whole_stream_becomes_the_answer_that_its_case_names(case: dict[str, Any]) -> None:
    async with model_server(Reply(_parts(case))) as server:
        answer, deltas = await asked(server, case["wire"])
    assert answer.text == case["text"]
    assert answer.finish == case["finish"]
    assert [answer.input_tokens, answer.output_tokens] == case["usage"]
    assert "".join(delta.text for delta in deltas if delta.channel == "text") == case["text"]
    for words in case.get("reasoning_has", []):
        assert words in answer.reasoning
    assert len(answer.calls) == len(case["calls"])
    for call, expected in zip(answer.calls, case["calls"], strict=True):
        assert call.tool == expected["name"]
        assert json.loads(call.arguments) == expected["arguments"]
        assert call.provider_id == expected.get("id", call.provider_id)
        assert call.error == "", "what a schema demands is the tool layer's to say"


@pytest.mark.fault("F46")
@pytest.mark.parametrize("case", _FAILED, ids=lambda case: case["id"])
async def test_a_broken_stream_fails_as_its_case_names(case: dict[str, Any]) -> None:
    async with model_server(Reply(_parts(case))) as server:
        failure = await failed(server, case["wire"])
    assert failure.retry is case["retry"]
    assert case.get("error_says", "") in failure.detail


@pytest.mark.fault("F46")
@pytest.mark.parametrize("name", sorted({case["file"] for case in _CASES}))
def test_events_are_the_same_wherever_the_bytes_are_cut(name: str) -> None:
    data = (_FOLDER / name).read_bytes()
    whole = EventSplitter()
    expected = [*whole.feed(data), *whole.close()]
    assert len(expected) > 3
    for cut in range(1, len(data)):
        splitter = EventSplitter()
        events = [*splitter.feed(data[:cut]), *splitter.feed(data[cut:]), *splitter.close()]
        assert events == expected, f"cut at {cut}"


@pytest.mark.fault("F46")
@pytest.mark.parametrize("name", ["o09_sse_forms.sse", "o01_split_anywhere.sse"])
def test_events_are_the_same_when_every_byte_comes_alone(name: str) -> None:
    data = (_FOLDER / name).read_bytes()
    whole = EventSplitter()
    expected = [*whole.feed(data), *whole.close()]
    splitter = EventSplitter()
    events = [event for place in range(len(data)) for event in splitter.feed(data[place:][:1])]
    assert [*events, *splitter.close()] == expected


@pytest.mark.fault("F40")
async def test_calls_that_share_an_id_go_back_under_ids_of_their_own() -> None:
    calls = tuple(
        AskedCall(call_id, "read_file", json.dumps({"path": path}), "call_0")
        for call_id, path in (("call_x", "a"), ("call_y", "b"))
    )
    history = (
        UserMessage(1, "Read both."),
        AssistantMessage(2, "", calls),
        ResultMessage(4, "call_y", "read_file", "bee", False),
        ResultMessage(3, "call_x", "read_file", "ay", False),
        UserMessage(5, "And again."),
    )
    stream = (_FOLDER / "o05_same_id.sse").read_bytes()
    async with model_server(Reply([stream])) as server:
        answer, _ = await asked(server, "openai", *history)
        sent = server.requests[0].body["messages"]
    assert [call.arguments for call in answer.calls] == ['{"path":"a"}', '{"path":"b"}']
    assert [call["id"] for call in sent[2]["tool_calls"]] == ["call_x", "call_y"]
    assert [(m["tool_call_id"], m["content"]) for m in sent[3:5]] == [
        ("call_x", "ay"),
        ("call_y", "bee"),
    ]


@pytest.mark.parametrize("name", ["a01_plain.sse", "a05_unknown.sse"])
async def test_thinking_goes_back_unchanged_before_its_call(name: str) -> None:
    stream = (_FOLDER / name).read_bytes()
    async with model_server(Reply([stream])) as server:
        answer, _ = await asked(server, "anthropic", thinking_tokens=2048)
        calls = tuple(AskedCall("call_x", call.tool, call.arguments) for call in answer.calls)
        history: list[Message] = [
            UserMessage(1, "Go."),
            AssistantMessage(2, answer.text, calls, answer.opaque),
            *(ResultMessage(3, call.call_id, call.tool, "ok", False) for call in calls),
            UserMessage(4, "On."),
        ]
        await asked(server, "anthropic", *history, thinking_tokens=2048)
        sent = server.requests[1].body["messages"][1]["content"]
    if name == "a01_plain.sse":
        assert sent == [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "text", "text": "Grüße"},
            {"type": "tool_use", "id": "call_x", "name": "read_file", "input": {"path": "ü.txt"}},
        ]
    else:
        assert sent == [
            {"type": "redacted_thinking", "data": "b3BhcXVl"},
            {"type": "text", "text": "fine"},
        ]
