"""What a person or a program may ask of a workstream, in the imperative."""

from typing import Literal

import msgspec

from redshank_shared.domain.artifact_events import AssetPart, PreviewKind, StoredAsset, TextPart
from redshank_shared.domain.cadence import Cadence
from redshank_shared.domain.due_events import (
    Misfire,
    Overlap,
    WatchSpec,
)
from redshank_shared.domain.events import (
    Mode,
    Source,
    When,
)
from redshank_shared.domain.question_events import Answer


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
    scope: Literal["once", "workstream", "always"] = "once"
    updated_arguments: str = ""
    justification: str = ""
    reason: str = ""


class ResolveApprovals(msgspec.Struct, frozen=True):
    """All of these or none."""

    resolutions: tuple[Resolution, ...]
    by: str


class ExpireApproval(msgspec.Struct, frozen=True):
    """The time of an approval has run out; what was answered before stays so."""

    request_id: str
    by: str


class AnswerQuestions(msgspec.Struct, frozen=True):
    """All questions of one request, or none."""

    answers: tuple[Answer, ...]
    by: str


class CancelQuestion(msgspec.Struct, frozen=True):
    """Nobody will answer; the agent goes on without."""

    request_id: str
    by: str


class ExpireQuestion(msgspec.Struct, frozen=True):
    """The time of a request has run out; what was answered before stays so."""

    request_id: str
    by: str


class EnterPlanMode(msgspec.Struct, frozen=True):
    by: str


class AcceptPlan(msgspec.Struct, frozen=True):
    """Leave plan mode with this plan, back to the mode held before (K-31)."""

    call_id: str
    plan: str
    by: str


class CancelTurn(msgspec.Struct, frozen=True):
    by: str


class CloseWorkstream(msgspec.Struct, frozen=True):
    by: str


class RetryTurn(msgspec.Struct, frozen=True):
    by: str


class RevokeGrant(msgspec.Struct, frozen=True):
    """What was allowed for the workstream by this pattern asks again."""

    pattern: str
    by: str


class ChangeMode(msgspec.Struct, frozen=True):
    mode: Mode
    by: str


class RequestCompaction(msgspec.Struct, frozen=True):
    by: str


class CreateSchedule(msgspec.Struct, frozen=True):
    """`replaces`: one that has this name already makes room (C-42). `target`: who reads its
    message, empty for the workstream itself (K-93).
    """

    schedule_id: str
    name: str
    cadence: Cadence
    by: str
    message: str = ""
    watch: WatchSpec | None = None
    overlap: Overlap = "skip"
    misfire: Misfire = "coalesce_once"
    max_executions: int = 0
    replaces: bool = False
    target: str = ""


class ChangeSchedule(msgspec.Struct, frozen=True):
    """`schedule` is an id, a unique beginning of one, or a name. `run_id` is a fresh id, for a
    trigger only.
    """

    schedule: str
    change: Literal["pause", "resume", "cancel", "trigger"]
    by: str
    run_id: str = ""


class FireSchedule(msgspec.Struct, frozen=True):
    """A run is due: its message goes into the conversation. `ends` says why the schedule is over
    with it, if it is.
    """

    schedule_id: str
    run_id: str
    due_at: float
    text: str
    ends: str = ""


class HearWake(msgspec.Struct, frozen=True):
    """Another workstream's schedule has something to say here (K-93); once for each run."""

    schedule_id: str
    run_id: str
    due_at: float
    text: str


class RequestNotification(msgspec.Struct, frozen=True):
    """Tell a person by name, or one channel, never both (T-43)."""

    delivery_id: str
    message: str
    title: str = ""
    username: str = ""
    channel_type: str = ""
    channel_id: str = ""


class SettleNotification(msgspec.Struct, frozen=True):
    delivery_id: str
    sent: bool
    results: tuple[str, ...] = ()
    detail: str = ""


class PinFile(msgspec.Struct, frozen=True):
    """The file stands in every later prompt, so and no other way."""

    path: str
    sections: tuple[str, ...] = ()
    whole: bool = False


class UnpinFile(msgspec.Struct, frozen=True):
    path: str
    gone: bool = False


class StoreAssets(msgspec.Struct, frozen=True):
    call_id: str
    tool: str
    assets: tuple[StoredAsset, ...]


class OpenPreview(msgspec.Struct, frozen=True):
    """Show a person these kept bytes."""

    call_id: str
    shows: PreviewKind
    title: str
    digest: str
    source: str
    media_type: str
    size: int


class EmitOutput(msgspec.Struct, frozen=True):
    """`final`: the turn ends with it; without parts then, it ends without a word."""

    call_id: str
    parts: tuple[TextPart | AssetPart, ...]
    inline: bool = False
    final: bool = False


class ShowTools(msgspec.Struct, frozen=True):
    """A search has found these tools: the model is shown them from here on (T-62)."""

    names: tuple[str, ...]
    call_id: str = ""


Command = (
    PostMessage
    | ResolveApprovals
    | ExpireApproval
    | AnswerQuestions
    | CancelQuestion
    | ExpireQuestion
    | EnterPlanMode
    | AcceptPlan
    | CancelTurn
    | CloseWorkstream
    | RetryTurn
    | RevokeGrant
    | ChangeMode
    | RequestCompaction
    | CreateSchedule
    | ChangeSchedule
    | FireSchedule
    | HearWake
    | RequestNotification
    | SettleNotification
    | PinFile
    | UnpinFile
    | StoreAssets
    | OpenPreview
    | EmitOutput
    | ShowTools
)
