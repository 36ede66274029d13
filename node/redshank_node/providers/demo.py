"""Answers from the user's own words, so that all but intelligence can be tried offline."""

import asyncio
from collections.abc import AsyncIterator, Sequence

import msgspec

from redshank_node.providers.demo_lines import DemoStep, read_lines, what_it_does
from redshank_node.providers.provider import (
    Answer,
    Delta,
    ModelCall,
    ModelRequest,
    ModelSettings,
)
from redshank_shared.domain.messages import (
    AssistantMessage,
    Message,
    ResultMessage,
    UserMessage,
)

_QUOTED_CHARACTERS = 2000
_QUOTED_RESULTS = 20
_DELTA_CHARACTERS = 24
# The tool that answers where a turn must end with one, and how a model is told so.
_ANSWER = "respond"
_ENDING = f"End your turn by calling {_ANSWER}"


class Demo:
    """Does what the lines of this turn's messages ask, one call a line.

    It keeps nothing between requests: which step is next follows from the messages alone.
    """

    def __init__(self, settings: ModelSettings) -> None:
        self.settings = settings

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Answer]:
        """The next batch of calls, or in the end what the tools returned."""
        turn = _this_turn(request.messages)
        words = [message.text for message in turn if isinstance(message, UserMessage)]
        done = sum(isinstance(message, AssistantMessage) for message in turn)
        steps = read_lines(words, request.surface.tools)
        step = steps[min(done, len(steps) - 1)]
        shown: list[str] = []
        for seconds, text in step.slow:
            async for piece in _word_by_word(seconds, text):
                shown.append(piece)
                yield Delta("text", piece)
        closing = "" if step.calls else _closing(turn, steps, request)
        calls = step.calls
        if _ENDING in request.system and not calls:
            arguments = msgspec.json.encode({"content": closing.strip()}).decode()
            calls, closing = (ModelCall("demo_answer", _ANSWER, arguments),), ""
        text = "".join(shown) + closing
        for start in range(0, len(closing), _DELTA_CHARACTERS):
            yield Delta("text", closing[start : start + _DELTA_CHARACTERS])
        yield Answer(
            text=text,
            finish="tool_calls" if calls else "stop",
            calls=calls,
            input_tokens=sum(_size(message) for message in request.messages) // 4,
            output_tokens=(len(text) + sum(len(call.arguments) for call in calls)) // 4,
        )

    async def close(self) -> None:
        """Nothing is held."""


def _this_turn(messages: Sequence[Message]) -> list[Message]:
    """What was said and done since the last answer that asked for no call, or called `respond`."""
    begin = 0
    for place, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            called = [call.tool for call in message.calls]
            begin = place + 1 if not called or _ANSWER in called else begin
        elif isinstance(message, ResultMessage) and message.tool == _ANSWER:
            begin = place + 1
    return list(messages[begin:])


def _closing(turn: Sequence[Message], steps: Sequence[DemoStep], request: ModelRequest) -> str:
    results = [message for message in turn if isinstance(message, ResultMessage)]
    notes = [note for step in steps for note in step.notes]
    slow = any(step.slow for step in steps)
    if not results and not notes and not slow:
        return what_it_does(request.surface.tools)
    parts = [_quoted(result) for result in results[:_QUOTED_RESULTS]]
    if len(results) > _QUOTED_RESULTS:
        parts.append(f"and {len(results) - _QUOTED_RESULTS} more results.")
    closing = "\n\n".join(parts + notes)
    return f"\n\n{closing}" if steps[-1].slow and closing else closing


def _quoted(result: ResultMessage) -> str:
    verb = "failed" if result.is_error else "returned"
    output = result.output
    more = len(output) - _QUOTED_CHARACTERS
    if more > 0:
        output = f"{output[:_QUOTED_CHARACTERS]}\n… and {more} more characters"
    lines = output.rstrip("\n").split("\n") if output.strip() else ["(no output)"]
    return f"{result.tool} {verb}:\n" + "\n".join(f"> {line}" for line in lines)


async def _word_by_word(seconds: float, text: str) -> AsyncIterator[str]:
    words = text.split(" ")
    for place, word in enumerate(words):
        await asyncio.sleep(seconds / len(words))
        yield word if place == 0 else f" {word}"


def _size(message: Message) -> int:
    return len(message.output if isinstance(message, ResultMessage) else message.text)
