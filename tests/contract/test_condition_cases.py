"""A watch's stop_on gives what each case of the table names, within its bounds."""

import pathlib
import time
import tomllib
import tracemalloc
from typing import Any

import pytest

from redshank_shared.domain.conditions import Condition, ConditionFailed
from redshank_shared.domain.errors import Invalid, RedshankError

_CASES = tomllib.loads((pathlib.Path(__file__).parent / "cases" / "conditions.toml").read_text())[
    "case"
]
_MOST_SECONDS = 0.1
_MOST_BYTES = 50_000_000


def _text(case: dict[str, Any], key: str) -> str:
    if f"{key}_parts" in case:
        return "".join(piece * times for piece, times in case[f"{key}_parts"])
    return str(case.get(key, ""))


def _outcome(case: dict[str, Any]) -> tuple[str, RedshankError | None]:
    """What the table calls the outcome, along with the error that is shown."""
    try:
        condition = Condition.parse(_text(case, "expr"))
        met = condition.met(
            _text(case, "output"), case.get("exit_code", 0), case.get("prev_output")
        )
    except Invalid as refusal:
        return "refuse", refusal
    except ConditionFailed as failure:
        return "fails", failure
    return ("true" if met else "false"), None


@pytest.mark.req("T-51", "O26")
@pytest.mark.fault("F36")
@pytest.mark.parametrize("case", _CASES, ids=lambda case: case["id"])
def test_a_condition_gives_what_its_case_names(case: dict[str, Any]) -> None:
    allowed = {case["expect"]} | ({"refuse"} if case.get("or_refuse") else set())

    outcome, error = _outcome(case)

    assert outcome in allowed, case["why"]
    if error is not None:
        assert error.field == "stop_on"
        assert error.detail.startswith("stop_on ")


@pytest.mark.fault("F36")
@pytest.mark.parametrize("case", _CASES, ids=lambda case: case["id"])
def test_a_condition_is_done_within_the_time_of_the_table(case: dict[str, Any]) -> None:
    # The best of three: another process on the machine may take the processor in between.
    took = []
    for _ in range(3):
        began = time.thread_time()
        _outcome(case)
        took.append(time.thread_time() - began)

    assert min(took) < _MOST_SECONDS


@pytest.mark.fault("F36")
@pytest.mark.parametrize("case", _CASES, ids=lambda case: case["id"])
def test_a_condition_takes_no_more_memory_than_the_table_allows(case: dict[str, Any]) -> None:
    tracemalloc.start()
    try:
        _outcome(case)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < _MOST_BYTES
