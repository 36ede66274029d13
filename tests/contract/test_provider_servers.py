"""Streams in the shapes that servers really send become whole answers."""

import json

import pytest

from redshank_node.providers.provider import Answer
from tests.contract.provider_asking import asked, failed
from tests.fakes.model_server import Reply, call_delta, chunk, events, model_server, named

_USAGE = {"prompt_tokens": 20, "completion_tokens": 4, "total_tokens": 24}
_START = {"type": "message_start", "message": {"usage": {"input_tokens": 3, "output_tokens": 1}}}


async def _openai(*payloads: object, end: str = "close") -> Answer:
    async with model_server(Reply(events(*payloads))) as server:
        answer, _ = await asked(server, "openai")
    return answer


def _call_ends(answer: Answer) -> list[tuple[str, str, bool]]:
    return [(call.tool, call.arguments, bool(call.error)) for call in answer.calls]


async def test_vllm_reasoning_under_both_names_counts_once() -> None:
    answer = await _openai(
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning": "Hm, ", "reasoning_content": "Hm, "}),
        chunk({"reasoning": "yes.", "reasoning_content": "yes."}),
        chunk({"content": "Yes."}),
        chunk({"content": ""}, "stop", usage=None),
        {"object": "chat.completion.chunk", "choices": [], "usage": _USAGE},
        "[DONE]",
    )
    assert (answer.text, answer.reasoning, answer.finish) == ("Yes.", "Hm, yes.", "stop")
    assert (answer.input_tokens, answer.output_tokens) == (20, 4)


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
async def test_reasoning_is_known_under_either_name(field: str) -> None:
    answer = await _openai(chunk({field: "Hm."}), chunk({"content": "Yes."}, "stop"), "[DONE]")
    assert (answer.text, answer.reasoning) == ("Yes.", "Hm.")


async def test_llama_cpp_null_content_and_usage_beside_the_finish_are_taken() -> None:
    answer = await _openai(
        chunk({"role": "assistant", "content": None}),
        chunk({"content": "Yes"}),
        chunk({}, "stop", usage=_USAGE, timings={"prompt_n": 20}),
        "[DONE]",
    )
    assert (answer.text, answer.input_tokens, answer.output_tokens) == ("Yes", 20, 4)


async def test_usage_that_never_comes_is_zero_and_a_finish_without_done_is_an_end() -> None:
    answer = await _openai(chunk({"content": "Yes"}), chunk({}, "stop"))
    assert (answer.text, answer.input_tokens, answer.output_tokens) == ("Yes", 0, 0)


async def test_ollama_whole_calls_at_one_index_that_finish_with_stop_are_calls() -> None:
    answer = await _openai(
        chunk({"content": "", "role": "assistant"}),
        chunk(call_delta('{"path":"a"}', index=0, id="call_1")),
        chunk(call_delta({"path": "b"}, index=0, id="call_2")),
        chunk({"content": ""}, "stop"),
        "[DONE]",
    )
    assert answer.finish == "tool_calls"
    assert [json.loads(call.arguments) for call in answer.calls] == [{"path": "a"}, {"path": "b"}]


@pytest.mark.fault("F40")
@pytest.mark.parametrize("index", [{}, {"index": 0}], ids=["no index", "one index"])
async def test_calls_without_ids_stay_apart(index: dict[str, int]) -> None:
    answer = await _openai(
        chunk(call_delta('{"path":"a"}', **index)),
        chunk(call_delta('{"path":', **index)),
        chunk({"tool_calls": [{"function": {"arguments": '"b"}'}, **index}]}, "tool_calls"),
        "[DONE]",
    )
    assert _call_ends(answer) == [
        ("read_file", '{"path":"a"}', False),
        ("read_file", '{"path":"b"}', False),
    ]


@pytest.mark.fault("F40")
async def test_a_whole_call_that_is_sent_again_stays_one_call() -> None:
    again = chunk(call_delta('{"path":"a"}', index=0, id="call_1"))
    answer = await _openai(again, again, chunk({}, "tool_calls"), "[DONE]")
    assert _call_ends(answer) == [("read_file", '{"path":"a"}', False)]


@pytest.mark.fault("F46")
@pytest.mark.parametrize("finish", ["length", "tool_calls", "stop"])
async def test_cut_arguments_become_an_error_for_the_model(finish: str) -> None:
    answer = await _openai(
        chunk(call_delta('{"path":"a"}', index=0, id="call_1")),
        chunk(call_delta('{"path":"b', index=1, id="call_2"), finish),
        "[DONE]",
    )
    assert answer.finish == ("length" if finish == "length" else "tool_calls")
    assert _call_ends(answer) == [
        ("read_file", '{"path":"a"}', False),
        ("read_file", '{"path":"b', True),
    ]
    assert "cut off" in answer.calls[1].error


@pytest.mark.fault("F46")
async def test_a_call_cut_before_its_arguments_does_not_run_without_them() -> None:
    answer = await _openai(chunk(call_delta("", index=0, id="call_1"), "length"), "[DONE]")
    assert _call_ends(answer) == [("read_file", "{}", True)]


@pytest.mark.parametrize(
    ("sent", "kept", "bad"),
    [
        ('{"path": "a\nb"}', '{"path": "a\\nb"}', False),
        ('"{\\"path\\": \\"a\\"}"', '{"path": "a"}', False),
        ('{}{"path":"a"}', '{"path": "a"}', False),
        ("notes.txt", '"notes.txt"', False),
        ("null", "{}", False),
        ("[1]", "[1]", True),
        ('{"path": a}', '{"path": a}', True),
    ],
)
async def test_arguments_that_are_no_plain_object(sent: str, kept: str, bad: bool) -> None:
    answer = await _openai(chunk(call_delta(sent, index=0, id="c"), "tool_calls"), "[DONE]")
    assert _call_ends(answer) == [("read_file", kept, bad)]


@pytest.mark.fault("F46")
@pytest.mark.parametrize(
    ("pieces", "text", "reasoning"),
    [
        (["<thi", "nk>\nHm", ".</th", "ink>\n\nYes."], "Yes.", "Hm."),
        (["Hm.\n</think>\n\nYes."], "Yes.", "Hm."),
        (["Well. ", "<think>Hm.</think>", "Yes."], "Well. Yes.", "Hm."),
        (["`<think>` opens it."], "`<think>` opens it.", ""),
        (["```\n<think>\n</think>\n```"], "```\n<think>\n</think>\n```", ""),
        (["a < b, a <think", "er>"], "a < b, a <thinker>", ""),
    ],
)
async def test_thinking_that_leaks_into_text_is_reasoning(
    pieces: list[str], text: str, reasoning: str
) -> None:
    chunks = [chunk({"content": piece}) for piece in pieces]
    answer = await _openai(*chunks, chunk({}, "stop"), "[DONE]")
    assert (answer.text, answer.reasoning) == (text, reasoning)


async def test_typed_parts_of_content_are_text_and_reasoning() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    parts = [thinking, {"type": "text", "text": "Yes."}]
    answer = await _openai(chunk({"content": parts}, "stop"), "[DONE]")
    assert (answer.text, answer.reasoning) == ("Yes.", "Hm.")


async def test_a_character_in_two_halves_comes_out_whole() -> None:
    answer = await _openai(
        '{"choices":[{"delta":{"content":"\\ud83d"}}]}',
        '{"choices":[{"delta":{"content":"\\ude00"},"finish_reason":"stop"}]}',
    )
    assert answer.text == "😀"


async def test_a_body_in_place_of_a_stream_is_taken_whole() -> None:
    message = {"role": "assistant", "content": "Yes.", **call_delta("{}", id="c")}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": _USAGE}
    reply = Reply([json.dumps(body).encode()], content_type="application/json")
    async with model_server(reply) as server:
        answer, _ = await asked(server, "openai")
    assert (answer.text, answer.finish, answer.input_tokens) == ("Yes.", "tool_calls", 20)
    assert _call_ends(answer) == [("read_file", "{}", False)]


async def test_an_answer_ends_although_the_server_holds_the_stream_open() -> None:
    parts = events(chunk({"content": "Yes."}, "stop"), "[DONE]")
    async with model_server(Reply(parts, end="silent")) as server:
        answer, _ = await asked(server, "openai")
    assert answer.text == "Yes."


async def test_refused_words_end_as_refused() -> None:
    answer = await _openai(chunk({"refusal": "No."}), chunk({}, "stop"), "[DONE]")
    assert (answer.text, answer.finish) == ("No.", "refused")


@pytest.mark.fault("F46")
async def test_an_anthropic_call_cut_at_the_token_limit_does_not_run() -> None:
    block = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": '{"path": "a'}
    parts = named(
        _START,
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {}},
        {"type": "message_stop"},
    )
    async with model_server(Reply(parts)) as server:
        answer, _ = await asked(server, "anthropic")
    assert answer.finish == "length"
    assert _call_ends(answer) == [("read_file", '{"path": "a', True)]


@pytest.mark.fault("F46")
async def test_an_anthropic_error_event_means_another_try() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    async with model_server(Reply(named(_START, error))) as server:
        failure = await failed(server, "anthropic")
    assert (failure.code, failure.retry) == ("model_overloaded", True)
    assert "Overloaded" in failure.detail


async def test_cached_tokens_count_as_input_on_the_anthropic_wire() -> None:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 7}
    parts = named(
        {"type": "message_start", "message": {"usage": {**usage, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "Yes."},
        },
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 9},
        },
        {"type": "message_stop"},
    )
    async with model_server(Reply(parts)) as server:
        answer, _ = await asked(server, "anthropic")
    assert (answer.input_tokens, answer.output_tokens, answer.cached_tokens) == (102, 9, 90)
