"""What a model reads of a workstream: state -> messages."""

from redshank_shared.domain.events import (
    CallFinished,
    CallInterrupted,
    ContextCompacted,
    MessageAnswered,
    MessagePosted,
    Recorded,
)
from redshank_shared.domain.messages import AssistantMessage, Message, ResultMessage, UserMessage
from redshank_shared.domain.workstream import Workstream

SUMMARY_HEADER = "Summary of the conversation so far (earlier messages were left out):\n"


def transcript(state: Workstream) -> tuple[Message, ...]:
    """The conversation in an order that every provider takes: each call's one result behind its
    answer, later words after.

    Words that came while the model was answering, or while its calls ran, stand behind the results
    of that answer.
    """
    results = {
        recorded.fact.call_id: _result(recorded, recorded.fact)
        for recorded in state.entries
        if isinstance(recorded.fact, CallFinished | CallInterrupted)
    }
    messages: list[Message] = []
    late: list[Message] = []
    for recorded in state.entries:
        fact = recorded.fact
        if isinstance(fact, ContextCompacted):
            messages.append(UserMessage(recorded.seq, SUMMARY_HEADER + fact.summary))
        elif isinstance(fact, MessagePosted):
            late.append(UserMessage(recorded.seq, fact.text))
        elif isinstance(fact, MessageAnswered):
            read = [message for message in late if message.seq <= fact.read]
            late = [message for message in late if message.seq > fact.read]
            messages.extend(read)
            messages.append(
                AssistantMessage(recorded.seq, fact.text, fact.calls, fact.opaque, fact.model)
            )
            messages.extend(results[call.call_id] for call in fact.calls if call.call_id in results)
    return (*messages, *late)


def _result(recorded: Recorded, fact: CallFinished | CallInterrupted) -> ResultMessage:
    images = fact.images if isinstance(fact, CallFinished) else ()
    return ResultMessage(recorded.seq, fact.call_id, fact.tool, fact.output, fact.is_error, images)
