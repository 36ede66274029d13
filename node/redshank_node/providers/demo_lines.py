"""Reads the lines that the demo model understands."""

import math
import re
import shlex
from collections.abc import Sequence
from typing import Any

import msgspec

from redshank_node.providers.provider import ModelCall
from redshank_shared.domain.messages import ToolDescription

_LONGEST_SECONDS = 3600.0
_WORDS = ("run", "read", "write", "search", "call", "slow")
_TOOLS: dict[str, tuple[str, ...]] = {
    "run": ("bash", "exec"),
    "read": ("read_file", "read"),
    "write": ("write_file", "write"),
    "search": ("grep_search", "search"),
}
_EXAMPLES = {
    "run": "run: ls -la",
    "read": "read: README.md",
    "write": "write: a.txt hello",
    "search": "search: TODO",
}
_COMMAND = ("command", "cmd", "argv")
_ARGUMENTS = "args"
_PATH = ("path", "file_path", "file")
_CONTENT = ("content", "text")
_PATTERN = ("pattern", "query")


class DemoStep(msgspec.Struct, frozen=True):
    """What one answer does: texts to stream over seconds, calls to ask for, notes for the end."""

    slow: tuple[tuple[float, str], ...] = ()
    calls: tuple[ModelCall, ...] = ()
    notes: tuple[str, ...] = ()


class _Unreadable(Exception):
    """A line that cannot be done; the message tells the person why, with the mend."""


def read_lines(texts: Sequence[str], tools: Sequence[ToolDescription]) -> list[DemoStep]:
    """The steps that the texts ask for; only the last one may be, and always is, without calls.

    Each text begins a step of its own, so that one that arrives while others are being done is
    done after them. Text behind `write: PATH` is taken as typed: `\\n` in it stays two characters.
    """
    steps: list[DemoStep] = []
    waiting = DemoStep()
    number = 0
    for text in texts:
        for line in [*re.split(r"\r?\n|\r", text), "then"]:
            if line.strip() != "then":
                number += 1
                waiting = _with_line(waiting, line.lstrip(), number, tools)
            elif waiting.calls:
                steps.append(waiting)
                waiting = DemoStep()
    return [*steps, waiting]


def what_it_does(tools: Sequence[ToolDescription]) -> str:
    """What to write to this model, with examples for the tools that are there."""
    there = {tool.name for tool in tools}
    lines = [
        f"- `{example}` ({name})"
        for word, example in _EXAMPLES.items()
        for name in _TOOLS[word]
        if name in there
    ]
    lines.append('- `call: TOOL {"argument": "value"}` (any other tool)')
    lines.append("- `slow: 5 words to stream` (streams them over five seconds)")
    return (
        "I am the demo model: I do what the lines of your message ask, one tool call a line. "
        "Try one of these:\n\n" + "\n".join(lines) + "\n\nCalls of one message go out together; "
        "a line that says only `then` begins the next step. "
        "To talk to a real model, configure one under [models.main]."
    )


def _with_line(
    step: DemoStep, line: str, number: int, tools: Sequence[ToolDescription]
) -> DemoStep:
    word, colon, rest = line.partition(":")
    if not colon or word not in _WORDS:
        return step
    try:
        if word == "slow":
            return msgspec.structs.replace(step, slow=(*step.slow, _slow(rest.strip())))
        name, arguments = _call(word, rest.removeprefix(" "), tools)
    except _Unreadable as error:
        return msgspec.structs.replace(
            step, notes=(*step.notes, f"I did not do `{line[:200]}`: {error}.")
        )
    call = ModelCall(f"demo_{number}", name, msgspec.json.encode(arguments).decode())
    return msgspec.structs.replace(step, calls=(*step.calls, call))


def _call(word: str, rest: str, tools: Sequence[ToolDescription]) -> tuple[str, dict[str, Any]]:
    if word == "call":
        return _free_call(rest.strip(), tools)
    name, parameters = _tool(word, tools)
    if not rest.strip():
        raise _Unreadable(f"nothing stands behind the colon; write it like {_EXAMPLES[word]}")
    if word == "run":
        return name, _command(rest.strip(), parameters)
    if word == "read":
        return name, {_argument(_PATH, parameters): rest.strip()}
    if word == "search":
        return name, {_argument(_PATTERN, parameters): rest.strip()}
    path, _, content = rest.lstrip().partition(" ")
    return name, {_argument(_PATH, parameters): path, _argument(_CONTENT, parameters): content}


def _command(command: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """The command as text, as a list of words, or as a program with its arguments, whichever the
    tool takes.
    """
    argument = _argument(_COMMAND, parameters)
    takes_list, has_list = _is_list(parameters.get(argument)), _is_list(parameters.get(_ARGUMENTS))
    if not takes_list and not has_list:
        return {argument: command}
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise _Unreadable(f"the command cannot be split into words ({error})") from error
    return {argument: words} if takes_list else {argument: words[0], _ARGUMENTS: words[1:]}


def _is_list(described: object) -> bool:
    return isinstance(described, dict) and described.get("type") == "array"


def _free_call(rest: str, tools: Sequence[ToolDescription]) -> tuple[str, dict[str, Any]]:
    name, _, text = rest.partition(" ")
    there = [tool.name for tool in tools]
    if name not in there:
        raise _Unreadable(f"there is no tool {name or 'without a name'} here; {_named(there)}")
    try:
        arguments: dict[str, Any] = msgspec.json.decode(text.strip() or "{}", type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
        raise _Unreadable(
            f"what stands behind the tool's name is not a JSON object ({error}); "
            f'write it like call: {name} {{"argument": "value"}}'
        ) from error
    return name, arguments


def _tool(word: str, tools: Sequence[ToolDescription]) -> tuple[str, dict[str, Any]]:
    by_name = {tool.name: tool for tool in tools}
    for name in _TOOLS[word]:
        if name in by_name:
            parameters = by_name[name].parameters.get("properties")
            return name, parameters if isinstance(parameters, dict) else {}
    raise _Unreadable(f"there is no tool {' or '.join(_TOOLS[word])} here; {_named(list(by_name))}")


def _named(names: Sequence[str]) -> str:
    if not names:
        return "this workstream has no tools"
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return "the tools are " + ", ".join(names[:20]) + more


def _argument(names: Sequence[str], parameters: dict[str, Any]) -> str:
    return next((name for name in names if name in parameters), names[0])


def _slow(rest: str) -> tuple[float, str]:
    first, _, text = rest.partition(" ")
    try:
        seconds = float(first)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= _LONGEST_SECONDS or not text.strip():
        raise _Unreadable(
            f"write it like slow: 5 some words, with 0 to {_LONGEST_SECONDS:g} seconds"
        )
    return seconds, text.strip()
