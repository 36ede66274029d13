"""Facts about what an agent asks people: questions, their answers, accepted plans."""

from typing import Literal

import msgspec

from redshank_shared.domain.fact import Fact

Audience = Literal["user", "operator"]
QuestionOutcome = Literal["answered", "cancelled", "expired"]


class Option(msgspec.Struct, frozen=True):
    """One answer that a question offers."""

    option_id: str
    label: str
    description: str = ""


class Question(msgspec.Struct, frozen=True):
    """One question. In a log its id is unique in the whole cluster: the request's id, a dot, the
    name that the agent gave it.
    """

    question_id: str
    text: str
    options: tuple[Option, ...]
    multi_select: bool = False


class Answer(msgspec.Struct, frozen=True):
    """What a person says to one question: chosen options, own words, or both."""

    question_id: str
    option_ids: tuple[str, ...] = ()
    text: str = ""


class Inquiry(msgspec.Struct, frozen=True):
    """What a call wants to ask, before it is its turn. At most one of the times is above zero:
    milliseconds since 1970, or from when it is asked.
    """

    audience: Audience
    questions: tuple[Question, ...]
    expires_at_ms: int = 0
    expires_after_ms: int = 0


class QuestionAsked(Fact, frozen=True, tag="question.asked"):
    """A call waits for a person's answers. `expires_at`: seconds since 1970, None for never."""

    request_id: str
    call_id: str
    audience: Audience
    questions: tuple[Question, ...]
    expires_at: float | None = None


class QuestionAnswered(Fact, frozen=True, tag="question.answered"):
    """Nothing is asked any more: a person answered or cancelled, or the time ran out. `detail` says
    what follows where nobody answered.
    """

    request_id: str
    call_id: str
    outcome: QuestionOutcome
    by: str
    answers: tuple[Answer, ...] = ()
    detail: str = ""


class PlanAccepted(Fact, frozen=True, tag="plan.accepted"):
    """The plan with which plan mode was left (K-31)."""

    call_id: str
    plan: str
