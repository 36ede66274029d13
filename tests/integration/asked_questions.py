"""A workstream in which an agent asks two questions, made without a node."""

from typing import Any

import msgspec

from redshank_shared.domain.events import AskedCall, CallDecided, MessageAnswered, TurnStarted
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.question_events import Option, Question, QuestionAsked
from tests.integration.console_world import NodeSide, RunningConsole, decided, fresh_id

OPTIONS = (Option("o1", "green"), Option("o2", "black", "strong"))


async def asked(world: RunningConsole, *, audience: Any = "user") -> tuple[WorkstreamId, str]:
    """The workstream, called `tea`, with the request's id."""
    ws = await world.create(name="tea", message="ask me")
    side, request_id = NodeSide(world, ws), fresh_id("qst")
    side.claim()
    call = AskedCall(fresh_id("cl"), "ask_user_question")
    allowed: CallDecided = msgspec.structs.replace(
        decided(call), tool=call.tool, canonical=call.tool, effect="human", decision="allow"
    )
    questions = (
        Question(f"{request_id}.tea", "Which tea?", OPTIONS),
        Question(f"{request_id}.when", "When?", OPTIONS, multi_select=True),
    )
    await side.tell(
        TurnStarted(side.node_id, 1),
        MessageAnswered(read=side.state.version, calls=(call,), finish="tool_calls"),
        allowed,
        QuestionAsked(request_id, call.call_id, audience, questions, 4_102_444_800.0),
        release=True,
    )
    return ws, request_id
