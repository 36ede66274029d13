"""Takes what people answer to approvals, to questions."""

from collections.abc import Callable, Sequence

from redshank_console.services.orders import Answer, Orders
from redshank_console.services.principal import Principal
from redshank_console.services.waiting_views import may_answer, run_view
from redshank_shared.domain.commands import (
    AnswerQuestions,
    CancelQuestion,
    Command,
    Resolution,
    ResolveApprovals,
)
from redshank_shared.domain.errors import Conflict, Invalid, NotAllowed, NotFound
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.question_events import Answer as Answered
from redshank_shared.session_commands import KeyedRequest
from redshank_shared.stores.approvals import ApprovalRow, Approvals
from redshank_shared.stores.database import Database
from redshank_shared.stores.permission_rules import AllowedAlways
from redshank_shared.stores.questions import QuestionRow, Questions
from redshank_shared.wire.views import WorkstreamView

# The rule that allows a pattern for an owner's calls: pattern, owner, who said so, note.
MakeAlways = Callable[[str, str, str, str], AllowedAlways]

_MAY_BE_ANSWERED = (
    "approval_not_waiting",
    "approval_resolved",
    "question_not_waiting",
    "question_resolved",
    "workstream_closed",
)
_DECIDED = {"allowed": "Allowed", "denied": "Denied", "cancelled": "Cancelled"}
_REACH = {"workstream": " for this workstream", "always": " for always"}


class Answers:
    """Each answer is one append; the first one counts, whoever comes later learns whose (F50)."""

    def __init__(
        self,
        orders: Orders,
        database: Database,
        approvals: Approvals,
        questions: Questions,
        make_always: MakeAlways,
    ) -> None:
        self._orders = orders
        self._database = database
        self._approvals = approvals
        self._questions = questions
        self._make_always = make_always

    async def resolve(
        self,
        workstream_id: WorkstreamId,
        resolutions: tuple[Resolution, ...],
        by: Principal,
        keyed: KeyedRequest | None,
        *,
        as_run: bool = False,
    ) -> Answer:
        """200 and the view, or 202 and the run. All or none (K-53); what is allowed for always
        becomes a rule of the owner's with it. NotAllowed where that is another's to say.
        """
        always = await self._rules_of(workstream_id, resolutions, by)
        command = ResolveApprovals(resolutions, by.name)
        try:
            return await self._ordered(workstream_id, command, keyed, as_run=as_run, always=always)
        except (NotFound, Conflict) as refusal:
            if refusal.code in _MAY_BE_ANSWERED:
                await self._tell_who_decided(workstream_id, resolutions)
            raise

    async def answer(
        self,
        workstream_id: WorkstreamId,
        answers: tuple[Answered, ...],
        by: Principal,
        keyed: KeyedRequest | None,
        *,
        as_run: bool = False,
    ) -> Answer:
        """200 and the view, or 202 and the run. The questions of a request together, or none."""
        try:
            command = AnswerQuestions(answers, by.name)
            return await self._ordered(workstream_id, command, keyed, as_run=as_run)
        except (NotFound, Conflict) as refusal:
            if refusal.code in _MAY_BE_ANSWERED:
                request_ids = [each.question_id.partition(".")[0] for each in answers]
                await self._tell_who_answered(workstream_id, request_ids)
            raise

    async def cancel(
        self,
        workstream_id: WorkstreamId,
        request_id: str,
        by: Principal,
        keyed: KeyedRequest | None,
        *,
        as_run: bool = False,
    ) -> Answer:
        """200 and the view, or 202 and the run; the agent goes on without an answer."""
        try:
            command = CancelQuestion(request_id, by.name)
            return await self._ordered(workstream_id, command, keyed, as_run=as_run)
        except (NotFound, Conflict) as refusal:
            if refusal.code in _MAY_BE_ANSWERED:
                await self._tell_who_answered(workstream_id, [request_id])
            raise

    async def _ordered(
        self,
        workstream_id: WorkstreamId,
        command: Command,
        keyed: KeyedRequest | None,
        *,
        as_run: bool,
        always: tuple[AllowedAlways, ...] = (),
    ) -> Answer:
        show = _as_run if as_run else None
        return await self._orders.order(workstream_id, command, keyed, show, always)

    async def _row(self, workstream_id: WorkstreamId, resolution: Resolution) -> ApprovalRow | None:
        row = await self._database.run(self._approvals.get, resolution.request_id)
        return row if row is not None and row.workstream_id == workstream_id else None

    async def _rules_of(
        self, workstream_id: WorkstreamId, resolutions: tuple[Resolution, ...], by: Principal
    ) -> tuple[AllowedAlways, ...]:
        made = []
        for index, resolution in enumerate(resolutions):
            lasts = resolution.behavior == "allow" and resolution.scope == "always"
            row = await self._row(workstream_id, resolution) if lasts else None
            if row is not None:
                _check_may_always(row, by)
                made.append(self._always(row, by, f"resolutions[{index}].scope"))
        return tuple(made)

    def _always(self, row: ApprovalRow, by: Principal, field: str) -> AllowedAlways:
        pattern = row.request.pattern or row.request.tool
        note = f"allowed for always in {row.workstream_name} ({row.workstream_id})"
        try:
            return self._make_always(pattern, row.owner, by.name, note)
        except Invalid as wrong:
            raise Invalid(
                f"no rule for always can name this call: {wrong.detail}; allow it once, or for "
                "this workstream",
                code="no_rule_for_this",
                field=field,
            ) from wrong

    async def _tell_who_decided(
        self, workstream_id: WorkstreamId, resolutions: Sequence[Resolution]
    ) -> None:
        for index, resolution in enumerate(resolutions):
            row = await self._row(workstream_id, resolution)
            if row is not None and row.state != "pending":
                raise Conflict(
                    _who_decided(row),
                    code="approval_resolved",
                    field=f"resolutions[{index}].request_id",
                )

    async def _tell_who_answered(
        self, workstream_id: WorkstreamId, request_ids: Sequence[str]
    ) -> None:
        for request_id in request_ids:
            row = await self._database.run(self._questions.get, request_id)
            if row is not None and row.workstream_id == workstream_id and row.state != "pending":
                raise Conflict(_who_answered(row), code="question_resolved", field="question_id")


def _as_run(view: WorkstreamView) -> tuple[int, str]:
    return 202, run_view(view).model_dump_json()


def _check_may_always(row: ApprovalRow, by: Principal) -> None:
    if "always" not in may_answer(by, row.owner):
        raise NotAllowed(
            f"a rule for always belongs to {row.owner}, so only they or an admin can make it; "
            f"allow it once, or for this workstream",
            code="not_yours",
        )


def _who_decided(row: ApprovalRow) -> str:
    return (
        f"{_DECIDED[row.state]}{_REACH.get(row.scope or '', '')} by {row.resolved_by} "
        f"at {row.resolved_at}. Nothing is left to decide"
    )


def _who_answered(row: QuestionRow) -> str:
    return (
        f"{row.state.capitalize()} by {row.answered_by} at {row.answered_at}. "
        f"Nothing is left to answer"
    )
