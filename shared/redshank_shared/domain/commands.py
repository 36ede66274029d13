"""What a person or a program may ask of a workstream, in the imperative."""

from typing import Literal

import msgspec

from redshank_shared.domain.events import Mode, Source, When


class PostMessage(msgspec.Struct, frozen=True):
    text: str
    author: str
    source: Source = "user"
    when: When = "steer"


class Resolution(msgspec.Struct, frozen=True):
    """One answer to one approval. `updated_arguments` is JSON text of an object, or empty for the
    input as asked.
    """

    request_id: str
    behavior: Literal["allow", "deny"]
    scope: Literal["once", "workstream"] = "once"
    updated_arguments: str = ""
    justification: str = ""
    reason: str = ""


class ResolveApprovals(msgspec.Struct, frozen=True):
    """All of these or none."""

    resolutions: tuple[Resolution, ...]
    by: str


class CancelTurn(msgspec.Struct, frozen=True):
    by: str


class CloseWorkstream(msgspec.Struct, frozen=True):
    by: str


class RetryTurn(msgspec.Struct, frozen=True):
    by: str


class ChangeMode(msgspec.Struct, frozen=True):
    mode: Mode
    by: str


class RequestCompaction(msgspec.Struct, frozen=True):
    by: str


Command = (
    PostMessage
    | ResolveApprovals
    | CancelTurn
    | CloseWorkstream
    | RetryTurn
    | ChangeMode
    | RequestCompaction
)
