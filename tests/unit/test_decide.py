"""A command makes facts, or is refused with a reason and the mend."""

import msgspec
import pytest

from redshank_shared.domain.commands import (
    CancelTurn,
    ChangeMode,
    CloseWorkstream,
    Command,
    PostMessage,
    RequestCompaction,
    Resolution,
    ResolveApprovals,
    RetryTurn,
)
from redshank_shared.domain.decide import MAX_TEXT_CHARACTERS, decide, denial
from redshank_shared.domain.digests import input_digest
from redshank_shared.domain.errors import Conflict, Invalid, NotFound, RedshankError, VersionMoved
from redshank_shared.domain.events import (
    AnyFact,
    ApprovalResolved,
    CallFinished,
    CallStarted,
    CompactionRequested,
    MessagePosted,
    ModeChanged,
    StateChanged,
    TurnCancelled,
    TurnFailed,
    TurnRetried,
    WorkstreamClosed,
)
from redshank_shared.domain.plan import Rest, Run, plan
from redshank_shared.domain.workstream import Workstream
from tests.unit.log_builders import (
    AT,
    answered,
    asked,
    decided,
    finished,
    folded,
    posted,
    started,
    then,
    waiting,
)
from tests.unit.memory_log import MemoryLog

LATER = "2026-12-02T08:15:00.250Z"
TWO_WAIT = (
    posted(),
    answered(2, asked("c1"), asked("c2")),
    *waiting("c1", "r1"),
    *waiting("c2", "r2"),
)
RUNNING = (posted(), answered(2, asked("c1")), decided("c1"), started("c1"))
FAILED = (posted(), TurnFailed("model_failed", "try again"))


def allow(*request_ids: str) -> ResolveApprovals:
    return ResolveApprovals(tuple(Resolution(one, "allow") for one in request_ids), "ada")


def results(facts: list[AnyFact]) -> dict[str, str]:
    return {fact.call_id: fact.outcome for fact in facts if isinstance(fact, CallFinished)}


def refusal(state: Workstream, command: Command) -> RedshankError:
    with pytest.raises(RedshankError) as refused:
        decide(state, command, AT)
    return refused.value


def test_a_message_is_posted_and_the_workstream_shown_as_running() -> None:
    facts = decide(folded(), PostMessage("hello", "ada"), AT)

    assert facts == [MessagePosted("hello", author="ada"), StateChanged("running")]


def test_a_message_for_the_next_turn_is_queued() -> None:
    facts = decide(folded(), PostMessage("later", "ada", "channel", "next"), AT)

    assert facts[0] == MessagePosted("later", "channel", "ada", queued=True)


@pytest.mark.fault("F43")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty_text"),
        (" \n\t", "empty_text"),
        ("a\0b", "bad_character"),
        ("\0", "bad_character"),
        ("half \ud83d of a pair", "bad_character"),
        pytest.param("x" * (MAX_TEXT_CHARACTERS + 1), "text_too_long", id="too long"),
    ],
)
def test_text_that_cannot_be_stored_is_refused_and_names_its_field(text: str, code: str) -> None:
    refused = refusal(folded(), PostMessage(text, "ada"))

    assert isinstance(refused, Invalid)
    assert (refused.code, refused.field) == (code, "text")


def test_text_of_the_greatest_length_is_taken() -> None:
    assert decide(folded(), PostMessage("x" * MAX_TEXT_CHARACTERS, "ada"), AT)


@pytest.mark.req("K-53")
@pytest.mark.fault("F3")
@pytest.mark.parametrize(
    ("command", "error", "code"),
    [
        (ResolveApprovals((), "ada"), Invalid, "invalid"),
        (allow("r1", "r_of_another"), NotFound, "approval_not_waiting"),
        (allow("r1", "r2", "r1"), Invalid, "duplicate_resolution"),
    ],
)
def test_one_bad_answer_refuses_the_whole_batch(
    command: ResolveApprovals, error: type[Exception], code: str
) -> None:
    refused = refusal(folded(*TWO_WAIT), command)

    assert isinstance(refused, error)
    assert refused.code == code


def test_a_refused_answer_names_the_one_to_blame() -> None:
    assert refusal(folded(*TWO_WAIT), allow("r1", "r9")).field == "resolutions[1].request_id"


@pytest.mark.fault("F3")
def test_an_approval_that_was_answered_is_not_answered_again() -> None:
    state = folded(*TWO_WAIT)
    state = then(state, *decide(state, allow("r1"), AT))

    for again in (Resolution("r1", "allow"), Resolution("r1", "deny")):
        assert isinstance(refusal(state, ResolveApprovals((again,), "bob")), NotFound)


@pytest.mark.fault("F3")
def test_of_many_who_answer_at_once_one_does() -> None:
    log = MemoryLog()
    log.append([posted(), answered(3, asked("c1")), *waiting("c1", "r1")], expected_version=2)
    everybody_read = log.version
    answers = [decide(log.state, allow("r1"), AT) for _ in range(20)]

    refused = 0
    for facts in answers:
        try:
            log.append(facts, expected_version=everybody_read)
        except VersionMoved:
            refused += isinstance(refusal(log.state, allow("r1")), NotFound)

    assert refused == 19
    resolved = [one for one in log.records if isinstance(one.fact, ApprovalResolved)]
    assert len(resolved) == 1


@pytest.mark.fault("F2")
def test_an_approval_is_answered_days_later() -> None:
    state = folded(*TWO_WAIT)

    after = then(state, *decide(state, allow("r1", "r2"), LATER))

    assert isinstance(plan(after), Run)


@pytest.mark.req("K-49", "O11")
@pytest.mark.fault("F4")
def test_an_answer_says_who_gave_it_and_what_input_it_is_bound_to() -> None:
    edited = '{"command":"ls -l"}'
    command = ResolveApprovals(
        (
            Resolution("r1", "allow", "workstream", justification="it only looks"),
            Resolution("r2", "allow", updated_arguments=edited),
        ),
        "ada",
    )

    one, other = decide(folded(*TWO_WAIT), command, AT)[:2]

    assert isinstance(one, ApprovalResolved)
    assert (one.by, one.scope, one.justification) == ("ada", "workstream", "it only looks")
    assert one.input_digest == input_digest("bash", '{"command":"ls"}')
    assert isinstance(other, ApprovalResolved)
    assert other.updated_arguments == edited
    assert other.input_digest == input_digest("bash", edited)


@pytest.mark.fault("F19")
def test_a_denied_call_gets_its_one_result_in_the_persons_words() -> None:
    state = folded(*TWO_WAIT)
    denied = ResolveApprovals((Resolution("r1", "deny", reason="use the other disk"),), "ada")

    facts = decide(state, denied, AT)

    assert results(facts) == {"c1": "denied"}
    assert any(
        isinstance(fact, CallFinished) and fact.output == denial("ada", "use the other disk")
        for fact in facts
    )
    assert "They say: use the other disk" in denial("ada", "use the other disk")
    assert then(state, *facts).calls["c1"].status == "done"


@pytest.mark.fault("F4")
def test_a_denial_is_bound_to_the_input_that_was_asked_about_whatever_was_typed_beside_it() -> None:
    denied = ResolveApprovals((Resolution("r1", "deny", updated_arguments='{"a":1}'),), "ada")

    resolved = decide(folded(*TWO_WAIT), denied, AT)[0]

    assert isinstance(resolved, ApprovalResolved)
    assert resolved.updated_arguments == ""
    assert resolved.input_digest == input_digest("bash", '{"command":"ls"}')


@pytest.mark.fault("F43")
@pytest.mark.parametrize("field", ["updated_arguments", "justification", "reason"])
def test_an_answer_with_text_that_cannot_be_stored_is_refused(field: str) -> None:
    resolution = msgspec.structs.replace(Resolution("r1", "allow"), **{field: "a\ud800"})

    refused = refusal(folded(*TWO_WAIT), ResolveApprovals((resolution,), "ada"))

    assert refused.code == "bad_character"
    assert refused.field is not None
    assert refused.field.startswith("resolutions[0].")


@pytest.mark.parametrize(
    "arguments", ["[" * 100_000, '{"a":' * 50_000, '{"a":', "1e999"], ids=lambda one: one[:6]
)
def test_an_edit_that_is_no_json_is_taken_for_the_model_to_be_told(arguments: str) -> None:
    edit = ResolveApprovals((Resolution("r1", "allow", updated_arguments=arguments),), "ada")

    resolved = decide(folded(*TWO_WAIT), edit, AT)[0]

    assert isinstance(resolved, ApprovalResolved)
    assert resolved.input_digest.startswith("sha256:")


def test_the_digest_of_an_input_does_not_depend_on_the_order_of_its_keys() -> None:
    assert input_digest("bash", '{"a":1,"b":2}') == input_digest("bash", '{ "b": 2, "a": 1 }')
    assert input_digest("bash", '{"a":1}') != input_digest("bash", '{"a":2}')
    assert input_digest("bash", '{"a":1}') != input_digest("exec", '{"a":1}')
    assert input_digest("bash", '{"a":1}') != input_digest("bash", '{"a":"1"}')


@pytest.mark.fault("F19")
def test_cancelling_ends_what_waits_and_what_has_not_started_with_a_result_each() -> None:
    state = folded(
        posted(), answered(2, asked("c1"), asked("c2")), decided("c1"), *waiting("c2", "r2")
    )

    facts = decide(state, CancelTurn("ada"), AT)

    assert results(facts) == {"c1": "cancelled", "c2": "cancelled"}
    assert ApprovalResolved("r2", "c2", "cancelled", "ada") in facts
    assert facts[-2:] == [TurnCancelled("ada"), StateChanged("idle")]
    assert plan(then(state, *facts)) == Rest("idle")


def test_cancelling_leaves_the_result_of_a_running_call_to_the_node_that_runs_it() -> None:
    state = folded(*RUNNING)

    facts = decide(state, CancelTurn("ada"), AT)

    assert results(facts) == {}
    assert then(state, *facts).stopping


def test_cancelling_where_nothing_is_in_hand_changes_nothing() -> None:
    assert decide(folded(), CancelTurn("ada"), AT) == []
    assert decide(folded(posted(), answered(2)), CancelTurn("ada"), AT) == []


@pytest.mark.fault("F39")
def test_closing_resolves_what_waits_as_cancelled() -> None:
    state = folded(*TWO_WAIT)

    facts = decide(state, CloseWorkstream("ada"), AT)

    resolved = {fact.request_id for fact in facts if isinstance(fact, ApprovalResolved)}
    assert resolved == {"r1", "r2"}
    assert results(facts) == {"c1": "cancelled", "c2": "cancelled"}
    assert facts[-2:] == [WorkstreamClosed("ada"), StateChanged("closed")]
    assert not then(state, *facts).approvals


def test_closing_a_closed_workstream_changes_nothing() -> None:
    assert decide(folded(WorkstreamClosed("ada")), CloseWorkstream("ada"), AT) == []


@pytest.mark.parametrize(
    "command",
    [
        PostMessage("hello", "ada"),
        allow("r1"),
        CancelTurn("ada"),
        RetryTurn("ada"),
        ChangeMode("plan", "ada"),
        RequestCompaction("ada"),
    ],
)
def test_a_closed_workstream_takes_no_other_command(command: Command) -> None:
    refused = refusal(folded(WorkstreamClosed("ada")), command)

    assert isinstance(refused, Conflict)
    assert refused.code == "workstream_closed"


def test_what_has_failed_is_retried_and_nothing_else_is() -> None:
    assert decide(folded(*FAILED), RetryTurn("ada"), AT)[0] == TurnRetried("ada")

    refused = refusal(folded(posted()), RetryTurn("ada"))
    assert isinstance(refused, Conflict)
    assert refused.code == "not_failed"


def test_a_change_of_mode_is_recorded_once() -> None:
    assert decide(folded(), ChangeMode("plan", "ada"), AT)[0] == ModeChanged("plan", "ada")
    assert decide(folded(), ChangeMode("default", "ada"), AT) == []


def test_compaction_is_asked_for_once() -> None:
    asked_for = decide(folded(), RequestCompaction("ada"), AT)
    assert asked_for == [CompactionRequested("ada"), StateChanged("running")]

    assert decide(then(folded(), *asked_for), RequestCompaction("bob"), AT) == []


def test_no_command_starts_a_call() -> None:
    states = [
        folded(*TWO_WAIT),
        folded(*RUNNING),
        folded(*FAILED),
        folded(*RUNNING, finished("c1")),
    ]
    commands: list[Command] = [PostMessage("hello", "ada"), CancelTurn("ada"), allow("r1", "r2")]

    for state in states:
        for command in commands:
            if isinstance(command, ResolveApprovals) and not state.approvals:
                continue
            assert not any(isinstance(one, CallStarted) for one in decide(state, command, AT))
