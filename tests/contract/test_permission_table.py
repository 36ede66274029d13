"""The permission engine decides each case of the tables as it was worked out by hand."""

from typing import Any

import pytest

from redshank_shared.domain.errors import NotAllowed
from redshank_shared.permissions.hook_answers import checked_updates
from redshank_shared.profiles.labels import label_of
from redshank_shared.profiles.profile import card_of, load
from tests.contract.permission_cases import (
    Case,
    capability_of,
    cases_of,
    groups,
    rules_from,
    table,
    verdict_on,
)

_GIVEN = table("permissions.toml")
_OWN = [
    pytest.param(case, id=case.id, marks=pytest.mark.req(*group["req"]))
    for group in groups()
    for case in cases_of(group)
]


def held(case: Case) -> dict[str, str]:
    """What the engine says, as far as the case holds it."""
    verdict = verdict_on(case)
    if verdict is None:
        return {"decision": "unavailable"}
    said = {
        "decision": verdict.decision,
        "base": verdict.base_decision,
        "pattern": verdict.pattern,
        "scope": verdict.scope,
        "effect": verdict.mode_effect,
        "origin": verdict.origin,
    }
    return {name: said[name] for name in case.expected}


@pytest.mark.req(
    "C-6", "K-11", "K-33", "K-34", "K-35", "K-36", "K-37", "K-38", "K-39", "K-40", "K-42", "O1",
    "O2", "O4", "O14", "O15", "O24", "O25", "O28", "T-14", "T-15", "T-28", "T-72",
)  # fmt: skip
@pytest.mark.fault("F7", "F22")
@pytest.mark.parametrize("case", _OWN)
def test_a_call_is_decided_as_its_line_says(case: Case) -> None:
    assert held(case) == case.expected, case.why


def test_the_table_holds_enough_cases_each_of_them_once() -> None:
    written = [case for group in groups() for case in cases_of(group)]
    calls = {
        (case.profile, case.mode, case.tool, case.label, case.rules, case.plan_tools)
        for case in written
    }

    assert len(calls) == len(written)
    assert len(written) >= 250


def given(case: dict[str, Any]) -> Case:
    """A case of the table that was given, in the form of ours."""
    profile = case.get("profile", "kheish")
    card = card_of(load(profile), case["tool"])
    return Case(
        id=case["id"],
        why=case["why"],
        profile=profile,
        mode=case["mode"],
        tool=case["tool"],
        label=label_of(card, case.get("input", {})) if card else "",
        rules=rules_from(case.get("rules", [])),
        plan_tools=frozenset(case.get("plan_tools", ())),
        expected={
            name: case[name]
            for name in ("decision", "base", "pattern", "scope", "origin", "effect")
            if name in case
        },
        capability=capability_of(case.get("parent_capability", {}), case.get("capability", {})),
    )


@pytest.mark.req(
    "K-5", "K-33", "K-34", "K-35", "K-36", "K-37", "K-38", "K-39", "K-40", "K-42", "K-73", "K-77",
    "O1", "O2", "O4", "O5", "O14", "O15",
)  # fmt: skip
@pytest.mark.parametrize("case", _GIVEN["case"], ids=lambda case: case["id"])
def test_a_call_is_decided_as_the_given_case_says(case: dict[str, Any]) -> None:
    assert held(given(case)) == given(case).expected, case["why"]


@pytest.mark.req("K-43")
@pytest.mark.parametrize("case", _GIVEN["hook_update"], ids=lambda case: case["id"])
def test_a_batch_of_hook_updates_that_leaves_the_session_is_refused_whole(
    case: dict[str, Any],
) -> None:
    with pytest.raises(NotAllowed) as refusal:
        checked_updates(rules_from(case["updates"]))

    assert refusal.value.field == "rule_updates[1].scope"
