"""Every interleaving of the turn protocol keeps its promises, each rule of it is needed."""

import pytest

from tests.contract.protocol_model import FENCED, NOT_REPEATED, RECONCILED, Rule, explore


def test_every_interleaving_runs_each_effect_at_most_once_and_forgets_no_message() -> None:
    finding = explore()

    assert finding.fault == "", " > ".join(finding.path)
    assert finding.states > 5_000


@pytest.mark.parametrize(
    ("dropped", "fault"),
    [
        (NOT_REPEATED, "an effect ran twice"),
        (FENCED, "an effect ran twice"),
        (RECONCILED, "a message can be forgotten"),
    ],
)
def test_without_this_rule_a_fault_is_found(dropped: Rule, fault: str) -> None:
    finding = explore(dropped)

    assert finding.fault == fault
    assert finding.path
