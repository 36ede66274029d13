"""What a turn leaves behind is closed: nothing of it waits for anybody."""

import pytest

from redshank_node.engine.unfinished import given_up
from redshank_shared.domain.events import TurnFailed
from redshank_shared.domain.plan import Rest, plan
from redshank_shared.domain.question_events import Question, QuestionAnswered, QuestionAsked
from tests.unit.log_builders import answered, asked, decided, folded, posted, started, then

QUESTION = QuestionAsked("qst_1", "c1", "user", (Question("qst_1.q1", "Which tide?", ()),))


@pytest.mark.fault("F58")
def test_a_turn_that_is_given_up_withdraws_its_open_questions() -> None:
    batch = (asked("c1", "ask_user_question"), asked("c2"))
    state = folded(posted(), answered(2, *batch), decided("c1"), decided("c2"))
    state = then(state, QUESTION, started("c2"))

    facts = given_up(state, 6, "marsh-1")

    (settled,) = [fact for fact in facts if isinstance(fact, QuestionAnswered)]
    assert (settled.request_id, settled.outcome, settled.by) == ("qst_1", "cancelled", "marsh-1")
    after = then(state, *facts)
    assert after.questions == {}
    assert after.open_calls == []
    assert isinstance(facts[-1], TurnFailed)
    assert plan(after) == Rest("failed", detail=facts[-1].detail)
