"""Facts with only what a test cares about, put into a log."""

from redshank_shared.domain.events import (
    AnyFact,
    ApprovalRequested,
    ApprovalResolved,
    AskedCall,
    CallDecided,
    CallFinished,
    CallInterrupted,
    CallStarted,
    Decision,
    Effect,
    MessageAnswered,
    MessagePosted,
    Preview,
    WorkstreamCreated,
)
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.plan import number
from redshank_shared.domain.workstream import Workstream, advance, fold

WORKSTREAM = WorkstreamId("ws_0000000000000000000000")
AT = "2026-11-30T08:15:00.250Z"
CREATED = WorkstreamCreated(name="garden", owner="ada")


def folded(*facts: AnyFact) -> Workstream:
    """The state after a workstream was created and these facts followed, numbered from 2."""
    return fold(WORKSTREAM, number(0, AT, [CREATED, *facts]))


def then(state: Workstream, *facts: AnyFact) -> Workstream:
    """The state after these further facts."""
    return advance(state, number(state.version, AT, list(facts)))


def posted(text: str = "hello", *, queued: bool = False) -> MessagePosted:
    return MessagePosted(text, author="ada", queued=queued)


def answered(read: int, *calls: AskedCall, text: str = "") -> MessageAnswered:
    return MessageAnswered(read=read, text=text, calls=calls)


def asked(call_id: str, tool: str = "bash", provider_id: str = "") -> AskedCall:
    return AskedCall(call_id, tool, '{"command":"ls"}', provider_id)


def decided(
    call_id: str, decision: Decision = "allow", effect: Effect = "process", tool: str = "bash"
) -> CallDecided:
    return CallDecided(
        call_id=call_id,
        tool=tool,
        canonical=tool,
        effect=effect,
        decision=decision,
        base_decision=decision,
        effective_mode="default",
        pattern="*",
        scope="session",
        origin="static",
        why="the default rule * says so",
        input_digest="sha256:00",
    )


def requested(call_id: str, request_id: str, tool: str = "bash") -> ApprovalRequested:
    return ApprovalRequested(
        request_id, call_id, tool, '{"command":"ls"}', "sha256:00", Preview("ls", "command")
    )


def waiting(call_id: str, request_id: str) -> tuple[CallDecided, ApprovalRequested]:
    """A call that a person is asked about."""
    return decided(call_id, "ask"), requested(call_id, request_id)


def allowed(call_id: str, request_id: str, updated_arguments: str = "") -> ApprovalResolved:
    return ApprovalResolved(
        request_id, call_id, "allow", "ada", updated_arguments=updated_arguments
    )


def started(call_id: str) -> CallStarted:
    return CallStarted(call_id, "bash", "process", "node-a", 1)


def finished(call_id: str, output: str = "done") -> CallFinished:
    return CallFinished(call_id, "bash", False, output, "ok")


def interrupted(call_id: str) -> CallInterrupted:
    return CallInterrupted(call_id, "bash", "node-a", "the node stopped; outcome unknown")
