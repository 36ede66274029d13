"""Bodies that HTTP clients send."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from redshank_shared.domain.events import Mode, When
from redshank_shared.wire.boundary_requests import NONE, CapabilityLists, CredentialLists, Entries


def _storable(text: str) -> str:
    at = text.find("\0")
    if at >= 0:
        raise PydanticCustomError(
            "bad_character", "holds a NUL at character {at}; leave it out", {"at": at}
        )
    return text


Text = Annotated[str, AfterValidator(_storable)]
Word = Annotated[str, Field(max_length=200), AfterValidator(_storable)]


class Body(BaseModel):
    """A JSON object whose every field is known; an unknown one is an error, never passed over."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Nothing(Body):
    """An empty object; sending no body at all means the same."""


class NewWorkstream(Body):
    """A workstream to create; with `message` it begins to work at once."""

    name: Word = ""
    profile: Word = ""
    persona: Word = ""
    mode: Mode | None = None
    model: Word = ""
    message: str | None = None
    node: Word = ""
    labels: Annotated[tuple[Word, ...], Field(max_length=50)] = ()
    parent: Word = ""
    allowed_tools: Entries | None = None
    blocked_tools: Entries = NONE
    capability_scope: CapabilityLists | None = None
    credential_scope: CredentialLists | None = None
    budget: dict[str, Any] | None = None


class NewMessage(Body):
    """Words for the agent. `steer`: read at the next step; `next`: when the turn has ended."""

    text: str
    attachments: tuple[dict[str, Any], ...] = ()
    when: When = "steer"
    idempotency_key: str | None = None


class NewResolution(Body):
    """One answer to one request. `updated_input`: the call's input as the person edited it."""

    request_id: Word
    behavior: Literal["allow", "deny"]
    scope: Literal["once", "workstream", "always"] = "once"
    updated_input: dict[str, Any] | None = None
    justification: str = ""
    reason: str = ""


class NewResolutions(Body):
    """Answers that count all together or not at all."""

    resolutions: Annotated[tuple[NewResolution, ...], Field(min_length=1, max_length=1000)]
    idempotency_key: str | None = None


class NewAnswer(Body):
    """One answer to one question: chosen options, own words, or both."""

    question_id: Word
    option_ids: tuple[Word, ...] = ()
    text: str = ""


class NewAnswers(Body):
    """Answers that count all together or not at all."""

    answers: Annotated[tuple[NewAnswer, ...], Field(min_length=1, max_length=1000)]
    idempotency_key: str | None = None


class NewFork(Body):
    """Where to fork: the last sequence number that the new workstream shares."""

    after: int


class NewMode(Body):
    """The mode from now on."""

    mode: Mode


class RevokedGrant(Body):
    """What is allowed no longer, by the pattern that its approval showed."""

    pattern: Annotated[Word, Field(min_length=1)]


class Credential(Body):
    """What a person signs in with: the code of a sign-in link, or a token. One of the two."""

    code: Word | None = None
    token: Word | None = None
