"""What a schedule does at a moment follows its policies."""

import time
from typing import Any

import pytest

from redshank_shared.domain.cadence import Cron, Interval, Once
from redshank_shared.domain.errors import Conflict, Invalid
from redshank_shared.domain.recurrence import (
    MOST_MISSED_RECORDED,
    Policy,
    Recurrence,
    Step,
    begin,
    cancel,
    due,
    pause,
    resume,
    trigger,
)

_BORN = 1_800_000_000.0


def _begun(every: int = 60, **policy: Any) -> Recurrence:
    return begin(Interval(every, _BORN), Policy(**policy), _BORN)


def _told(step: Step) -> list[tuple[float, str]]:
    return [(run.due_at - _BORN, run.outcome) for run in step.runs]


def test_nothing_is_recorded_before_the_due_time() -> None:
    begun = _begun()

    assert due(begun, _BORN + 59.9, open_run=False) == Step((), begun)


@pytest.mark.req("K-89")
def test_a_due_time_is_recorded_once_however_often_it_is_asked() -> None:
    step = due(_begun(), _BORN + 60.2, open_run=False)

    assert _told(step) == [(60, "claimed")]
    assert step.after.next_due == _BORN + 120
    assert due(step.after, _BORN + 60.2, open_run=True).runs == ()


@pytest.mark.req("K-89")
def test_missed_due_times_become_one_run_that_of_the_latest() -> None:
    step = due(_begun(), _BORN + 670, open_run=False)

    assert _told(step) == [(660, "claimed")]
    assert step.after.next_due == _BORN + 720


@pytest.mark.req("K-89")
def test_skip_missed_records_what_no_node_saw_without_a_run() -> None:
    step = due(_begun(misfire="skip_missed"), _BORN + 270, open_run=False)

    assert _told(step) == [(moment, "skipped") for moment in (60, 120, 180, 240)]
    assert all("missed" in run.reason for run in step.runs)
    assert step.after.next_due == _BORN + 300
    assert step.after.executions == 0


@pytest.mark.req("K-89")
def test_skip_missed_still_runs_what_is_only_late_by_a_change_of_the_clocks_leader() -> None:
    step = due(_begun(misfire="skip_missed"), _BORN + 125, open_run=False)

    assert _told(step) == [(60, "skipped"), (120, "claimed")]


@pytest.mark.req("K-89", "K-91")
@pytest.mark.parametrize("cadence", [Interval(5, _BORN), Cron("*/5 * * * * *")])
def test_a_scan_over_years_of_missed_due_times_is_bounded(cadence: Interval | Cron) -> None:
    begun = begin(cadence, Policy(misfire="skip_missed"), _BORN)
    began = time.process_time()
    step = due(begun, _BORN + 3 * 366 * 86_400 + 10, open_run=False)

    assert len(step.runs) <= MOST_MISSED_RECORDED + 1
    assert time.process_time() - began < 1


@pytest.mark.req("K-89")
def test_queue_one_lets_one_run_wait_and_skips_the_next() -> None:
    first = due(_begun(overlap="queue_one"), _BORN + 60, open_run=True)
    second = due(first.after, _BORN + 120, open_run=True, queued_run=True)

    assert _told(first) == [(60, "queued")]
    assert _told(second) == [(120, "skipped")]
    assert second.runs[0].reason


@pytest.mark.req("K-89")
def test_parallel_runs_beside_an_open_run() -> None:
    assert _told(due(_begun(overlap="parallel"), _BORN + 60, open_run=True)) == [(60, "claimed")]


@pytest.mark.req("K-91")
def test_the_last_allowed_run_completes_the_schedule() -> None:
    first = due(_begun(max_executions=2), _BORN + 60, open_run=False)
    skipped = due(first.after, _BORN + 120, open_run=True)
    last = due(skipped.after, _BORN + 180, open_run=False)

    assert (first.after.status, skipped.after.status) == ("active", "active")
    assert (last.after.status, last.after.next_due, last.after.ended) == ("completed", None, True)


@pytest.mark.req("K-86", "K-90")
def test_a_single_moment_completes_with_its_run() -> None:
    step = due(begin(Once(_BORN + 5), Policy(), _BORN), _BORN + 5, open_run=False)

    assert _told(step) == [(5, "claimed")]
    assert step.after.status == "completed"


@pytest.mark.req("K-90")
def test_a_cron_whose_last_year_is_over_completes() -> None:
    cadence = Cron("0 0 0 1 1 * 2028")
    begun = begin(cadence, Policy(), _BORN)
    assert begun.next_due is not None

    assert due(begun, begun.next_due, open_run=False).after.status == "completed"


@pytest.mark.req("K-89")
def test_trigger_leaves_the_cadence_alone_while_the_overlap_policy_holds() -> None:
    begun = _begun()
    run = trigger(begun, _BORN + 10, open_run=False)
    refused = trigger(run.after, _BORN + 20, open_run=True)

    assert _told(run) == [(10, "claimed")]
    assert run.after.next_due == begun.next_due
    assert _told(refused) == [(20, "skipped")]
    assert refused.after == run.after


@pytest.mark.req("K-90")
def test_an_interval_resumes_with_what_was_left_then_keeps_that_beat() -> None:
    paused = pause(_begun(), _BORN + 20)
    resumed = resume(paused, _BORN + 1_000)
    step = due(resumed, _BORN + 1_040, open_run=False)

    assert (paused.next_due, paused.remaining_seconds) == (None, 40)
    assert due(paused, _BORN + 500, open_run=False).runs == ()
    assert _told(step) == [(1_040, "claimed")]
    assert step.after.next_due == _BORN + 1_100


@pytest.mark.req("K-90")
def test_what_is_paused_while_overdue_is_due_at_once_when_resumed() -> None:
    resumed = resume(pause(_begun(), _BORN + 61), _BORN + 500)

    assert resumed.next_due == _BORN + 500


@pytest.mark.req("K-90")
def test_a_cron_that_is_over_when_resumed_is_completed() -> None:
    paused = pause(begin(Cron("0 0 0 1 1 * 2028"), Policy(), _BORN), _BORN + 1)

    assert resume(paused, _BORN + 5 * 366 * 86_400).status == "completed"


@pytest.mark.req("K-90")
@pytest.mark.parametrize("status", ["completed", "canceled"])
def test_the_end_is_final(status: Any) -> None:
    ended = Recurrence(Interval(60, _BORN), status=status)

    for ask in (
        lambda: pause(ended, _BORN),
        lambda: resume(ended, _BORN),
        lambda: cancel(ended),
        lambda: trigger(ended, _BORN, open_run=False),
    ):
        with pytest.raises(Conflict, match="final"):
            ask()


@pytest.mark.req("K-90")
def test_what_runs_cannot_resume_while_what_is_paused_cannot_pause() -> None:
    begun = _begun()

    with pytest.raises(Conflict, match="active"):
        resume(begun, _BORN)
    with pytest.raises(Conflict, match="paused"):
        pause(pause(begun, _BORN), _BORN)
    assert cancel(pause(begun, _BORN)).status == "canceled"


@pytest.mark.req("K-91")
@pytest.mark.parametrize("most", [0, -1])
def test_fewer_than_one_execution_is_refused(most: int) -> None:
    with pytest.raises(Invalid) as refusal:
        _begun(max_executions=most)

    assert refusal.value.field == "max_executions"
