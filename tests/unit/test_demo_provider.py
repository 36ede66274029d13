"""The demo model does what the lines of the turn's messages ask."""

import json
from typing import Any

import pytest

from redshank_node.providers.choose import make
from redshank_node.providers.provider import Answer, Delta, ModelRequest, ModelSettings, Surface
from redshank_shared.domain.events import AskedCall
from redshank_shared.domain.messages import (
    AssistantMessage,
    Message,
    ResultMessage,
    ToolDescription,
    UserMessage,
)


def _tool(name: str, **properties: str) -> ToolDescription:
    described = {argument: {"type": kind} for argument, kind in properties.items()}
    return ToolDescription(name, "", {"type": "object", "properties": described})


_DEFAULT = (
    _tool("bash", command="string"),
    _tool("read_file", path="string"),
    _tool("write_file", path="string", content="string"),
    _tool("grep_search", pattern="string"),
    _tool("get_goal"),
)
_OTHER = (
    _tool("exec", command="array"),
    _tool("read", path="string"),
    _tool("write", path="string", content="string"),
    _tool("search", query="string"),
)


class _Talk:
    """A conversation with the demo model, whose every call gets a result."""

    def __init__(self, tools: tuple[ToolDescription, ...] = _DEFAULT) -> None:
        self.deltas: list[str] = []
        self._surface = Surface("digest", tools)
        self._messages: list[Message] = []

    async def step(self, *texts: str) -> Answer:
        """The answer to what was said so far and these words, from a model made anew."""
        for text in texts:
            self._messages.append(UserMessage(len(self._messages) + 1, text))
        provider = make(ModelSettings("main", "demo", "demo"))
        request = ModelRequest("ws_1", "", tuple(self._messages), self._surface)
        items = [item async for item in provider.stream(request)]
        self.deltas = [item.text for item in items if isinstance(item, Delta)]
        answer = items[-1]
        assert isinstance(answer, Answer)
        assert "".join(self.deltas) == answer.text
        assert answer.finish == ("tool_calls" if answer.calls else "stop")
        self._note(answer)
        return answer

    def _note(self, answer: Answer) -> None:
        seq = len(self._messages) + 1
        calls = tuple(
            AskedCall(f"call_{seq}_{place}", call.tool, call.arguments, call.provider_id)
            for place, call in enumerate(answer.calls)
        )
        self._messages.append(AssistantMessage(seq, answer.text, calls))
        for call in calls:
            output = f"output of {call.tool}"
            self._messages.append(ResultMessage(seq + 1, call.call_id, call.tool, output, False))


def _calls(answer: Answer) -> list[tuple[str, dict[str, Any]]]:
    return [(call.tool, json.loads(call.arguments)) for call in answer.calls]


_LINES = "run: ls -la\nread: a b.txt\nwrite: a.txt hello  there\\n\nwrite: b.txt\nsearch: x: y"


async def test_each_line_is_one_call_of_one_batch() -> None:
    answer = await _Talk().step(f'Please:\n{_LINES}\ncall: get_goal\ncall: bash {{"command":"w"}}')
    assert _calls(answer) == [
        ("bash", {"command": "ls -la"}),
        ("read_file", {"path": "a b.txt"}),
        ("write_file", {"path": "a.txt", "content": "hello  there\\n"}),
        ("write_file", {"path": "b.txt", "content": ""}),
        ("grep_search", {"pattern": "x: y"}),
        ("get_goal", {}),
        ("bash", {"command": "w"}),
    ]
    assert len({call.provider_id for call in answer.calls}) == 7


async def test_a_profiles_own_names_and_arguments_are_used() -> None:
    answer = await _Talk(_OTHER).step("run: ls -la 'a b'\nread: a\nwrite: a x\nsearch: TODO")
    assert _calls(answer) == [
        ("exec", {"command": ["ls", "-la", "a b"]}),
        ("read", {"path": "a"}),
        ("write", {"path": "a", "content": "x"}),
        ("search", {"query": "TODO"}),
    ]


async def test_a_program_is_asked_for_with_its_arguments_where_the_tool_takes_them_so() -> None:
    answer = await _Talk((_tool("exec", command="string", args="array"),)).step("run: ls -la 'a b'")
    assert _calls(answer) == [("exec", {"command": "ls", "args": ["-la", "a b"]})]


async def test_then_begins_the_next_step_and_the_end_quotes_every_result() -> None:
    talk = _Talk()
    first = await talk.step("run: one\nthen\n\nthen\nread: two\r\nrun: three")
    assert _calls(first) == [("bash", {"command": "one"})]
    second = await talk.step()
    assert _calls(second) == [("read_file", {"path": "two"}), ("bash", {"command": "three"})]
    last = await talk.step()
    assert last.text == (
        "bash returned:\n> output of bash\n\n"
        "read_file returned:\n> output of read_file\n\n"
        "bash returned:\n> output of bash"
    )
    assert len(talk.deltas) > 3
    again = await talk.step("run: four")
    assert _calls(again) == [("bash", {"command": "four"})]
    assert (await talk.step()).text == "bash returned:\n> output of bash"


async def test_words_that_arrive_inside_a_turn_are_done_after_the_steps_in_hand() -> None:
    talk = _Talk()
    await talk.step("run: one\nthen\nrun: two")
    assert _calls(await talk.step("run: three")) == [("bash", {"command": "two"})]
    assert _calls(await talk.step()) == [("bash", {"command": "three"})]
    assert (await talk.step()).text.count("output of bash") == 3


async def test_a_failed_result_is_called_failed_and_a_long_one_is_bounded() -> None:
    calls = (AskedCall("call_1", "bash"), AskedCall("call_2", "bash"))
    messages = (
        UserMessage(1, "run: x\nrun: y"),
        AssistantMessage(2, "", calls),
        ResultMessage(3, "call_1", "bash", "exit 1", True),
        ResultMessage(4, "call_2", "bash", "y" * 100_000, False),
    )
    provider = make(ModelSettings("main", "demo", "demo"))
    request = ModelRequest("ws_1", "", messages, Surface("digest", _DEFAULT))
    answer = [item async for item in provider.stream(request)][-1]
    assert isinstance(answer, Answer)
    assert answer.text.startswith("bash failed:\n> exit 1\n")
    assert "98000 more characters" in answer.text
    assert len(answer.text) < 3000


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("run: ls", "there is no tool bash or exec here; the tools are get_goal"),
        ("call: bash {}", "there is no tool bash here; the tools are get_goal"),
        ("call: get_goal {bad}", "write it like call: get_goal {"),
        ("call: get_goal [1]", "not a JSON object"),
        ("slow: soon words", "write it like slow: 5 some words"),
    ],
)
async def test_a_line_that_cannot_be_done_is_answered_with_its_mend(line: str, says: str) -> None:
    answer = await _Talk((_tool("get_goal"),)).step(line)
    assert answer.calls == ()
    assert f"I did not do `{line}`" in answer.text
    assert says in answer.text


async def test_a_bad_line_does_not_keep_the_others_from_being_done() -> None:
    talk = _Talk()
    assert _calls(await talk.step("run:\nrun: ls")) == [("bash", {"command": "ls"})]
    assert "I did not do `run:`" in (await talk.step()).text


@pytest.mark.parametrize("tools", [_DEFAULT, _OTHER], ids=["default", "other"])
async def test_without_such_a_line_it_says_what_it_can_do(
    tools: tuple[ToolDescription, ...],
) -> None:
    answer = await _Talk(tools).step("Hello! run it")
    assert answer.calls == ()
    for tool in tools[:4]:
        assert f"({tool.name})" in answer.text


async def test_what_it_says_asks_for_nothing_when_it_is_read_as_a_message() -> None:
    answer = await _Talk().step("Hello!")
    assert (await _Talk().step(answer.text)).calls == ()


async def test_slow_words_come_one_by_one_before_the_end() -> None:
    talk = _Talk()
    answer = await talk.step("slow: 0.05 one two three")
    assert answer.text == "one two three"
    assert talk.deltas == ["one", " two", " three"]
