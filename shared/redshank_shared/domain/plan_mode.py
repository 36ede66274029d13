"""Plan mode by call: command -> facts, or a refusal with the mend."""

from redshank_shared.domain.commands import AcceptPlan, EnterPlanMode
from redshank_shared.domain.errors import Conflict
from redshank_shared.domain.events import AnyFact, ModeChanged
from redshank_shared.domain.question_events import PlanAccepted
from redshank_shared.domain.workstream import Workstream

NOT_PLANNING = "plan mode is not on, so there is nothing to leave; go on with the work"


def decide(state: Workstream, command: EnterPlanMode | AcceptPlan) -> list[AnyFact]:
    """Enter plan mode, or leave it for the mode held before with the plan kept (K-31). Entering
    twice changes nothing; Conflict where there is nothing to leave.
    """
    if isinstance(command, EnterPlanMode):
        return [] if state.mode == "plan" else [ModeChanged("plan", command.by)]
    if state.mode != "plan":
        raise Conflict(NOT_PLANNING, code="not_planning")
    before = "default" if state.mode_before == "plan" else state.mode_before
    return [PlanAccepted(command.call_id, command.plan), ModeChanged(before, command.by)]
