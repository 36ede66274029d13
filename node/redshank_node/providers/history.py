"""Puts a conversation into the order that providers demand (F19, F40)."""

import re
from collections.abc import Hashable, Sequence

from redshank_node.providers.arguments import checked
from redshank_shared.domain.messages import AssistantMessage, Message, ResultMessage

_NO_RESULT = "No result of this call is known; it may or may not have taken effect."


def ordered(messages: Sequence[Message]) -> list[Message]:
    """Each answer's results right behind it, one for each of its calls.

    Results that belong to no call, and answers that hold nothing, are left out: providers refuse
    a history with them. A missing result is filled in with words that say so.
    """
    results: dict[str, ResultMessage] = {}
    for message in messages:
        if isinstance(message, ResultMessage):
            results.setdefault(message.call_id, message)
    history: list[Message] = []
    for message in messages:
        if isinstance(message, ResultMessage):
            continue
        if isinstance(message, AssistantMessage):
            if not message.calls and not message.text.strip():
                continue
            history.append(message)
            history.extend(
                results.get(call.call_id)
                or ResultMessage(message.seq, call.call_id, call.tool, _NO_RESULT, True)
                for call in message.calls
            )
        else:
            history.append(message)
    return history


def turn_begin(history: Sequence[Message]) -> int:
    """Where the steps of the turn in hand begin: behind the last words of a person or last answer.

    The history's length, when its last message is a person's.
    """
    for place in range(len(history) - 1, -1, -1):
        message = history[place]
        if isinstance(message, ResultMessage):
            continue
        if not isinstance(message, AssistantMessage) or not message.calls:
            return place + 1
    return 0


def message_key(conversation: str, message: Message) -> tuple[Hashable, ...]:
    """Under what a message's encoded bytes are kept.

    The words of a summary, or of the demand for one, may stand under the number of another
    message: so words in a person's place count by what they say.
    """
    if isinstance(message, ResultMessage):
        return (conversation, message.seq, "result", message.call_id)
    if isinstance(message, AssistantMessage):
        return (conversation, message.seq, "assistant")
    return (conversation, message.seq, "user", hash(message.text))


def sent_arguments(arguments: str) -> str:
    """Arguments as they may go back to a provider: always a whole JSON object."""
    text, error = checked(arguments, cut=False)
    if error:
        return "{}"
    return f'{{"input":{text}}}' if text.startswith('"') else text


def sent_name(tool: str) -> str:
    """A tool's name as providers take it, even one that a model made up."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", tool)[:64] or "unknown_tool"
