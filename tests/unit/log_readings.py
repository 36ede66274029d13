"""What a whole log or conversation says, read without the fold."""

from redshank_shared.domain.events import (
    ApprovalRequested,
    ApprovalResolved,
    CallDecided,
    CallFinished,
    CallInterrupted,
    CallStarted,
    MessageAnswered,
    MessagePosted,
    Recorded,
    TurnCancelled,
    decode,
    encode,
    kind_of,
)
from redshank_shared.domain.messages import AssistantMessage, Message, ResultMessage

RAN = ("ok", "error", "timeout")


def stored_and_read(records: list[Recorded]) -> list[Recorded]:
    """The log as it comes back from a store."""
    return [
        Recorded(one.seq, one.at, decode(kind_of(one.fact), encode(one.fact))) for one in records
    ]


def asked_calls(records: list[Recorded]) -> set[str]:
    """The ids of all calls that a model ever asked for."""
    answers = (one.fact for one in records if isinstance(one.fact, MessageAnswered))
    return {call.call_id for answer in answers for call in answer.calls}


def seqs_of(records: list[Recorded], kind: type[MessagePosted] | type[TurnCancelled]) -> list[int]:
    return [recorded.seq for recorded in records if isinstance(recorded.fact, kind)]


def assert_batches_are_decided_first(records: list[Recorded]) -> None:
    """No call started or ran while one of its batch was undecided, edited or waited for a person
    (O9, O11).
    """
    undecided: set[str] = set()
    unanswered: set[str] = set()
    for recorded in records:
        match recorded.fact:
            case MessageAnswered(calls=calls):
                undecided = {call.call_id for call in calls}
            case CallDecided(call_id=call_id) | CallInterrupted(call_id=call_id):
                undecided.discard(call_id)
            case ApprovalRequested(request_id=request_id):
                unanswered.add(request_id)
            case ApprovalResolved(request_id=request_id) as resolved:
                unanswered.discard(request_id)
                if resolved.updated_arguments:
                    undecided.add(resolved.call_id)
            case CallStarted():
                assert not undecided
                assert not unanswered
            case CallFinished(call_id=call_id, outcome=outcome):
                undecided.discard(call_id)
                assert outcome not in RAN or not (undecided or unanswered)


def assert_results_follow_their_answer(messages: tuple[Message, ...]) -> None:
    """Every answer with calls is followed by exactly their results in order, nothing between; no
    result without its call; no number twice (F19).
    """
    expected: list[str] = []
    for message in messages:
        if expected or isinstance(message, ResultMessage):
            assert isinstance(message, ResultMessage)
            assert message.call_id == expected.pop(0)
        if isinstance(message, AssistantMessage):
            expected = [call.call_id for call in message.calls]
    assert not expected
    seqs = [message.seq for message in messages]
    assert len(set(seqs)) == len(seqs)
