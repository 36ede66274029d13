"""Tries policies that are not in force: their expectations, how they differ (B-5)."""

import json
import tomllib
from typing import Any

import msgspec

from redshank_console.services.cluster_surface import LiveTools
from redshank_console.services.permission_views import change_views, decision_view, shown_tool
from redshank_console.services.policy_in_force import (
    DEFAULT_PROFILE,
    PolicyInForce,
    Standpoint,
    known_names,
    ruleset_over,
    surface_of,
)
from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.events import MODES
from redshank_shared.permissions.matrix import difference, matrix
from redshank_shared.permissions.policy_file import (
    Outcome,
    Policy,
    read_policy,
    run_expectations,
)
from redshank_shared.permissions.rules import Rule, check_names
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.permissions.tool_card import MCP_PREFIX, ToolCard, unregistered_card
from redshank_shared.profiles.profile import card_of, load
from redshank_shared.wire.permission_requests import ComparedPolicies, TriedPolicy
from redshank_shared.wire.permission_views import (
    DifferenceView,
    ExpectedView,
    ResultView,
    TrialView,
)


class PolicyTrials:
    """Reads only. Invalid names the field of the policy to mend, as in `rule[3].pattern`."""

    def __init__(self, policy: PolicyInForce) -> None:
        self._policy = policy

    async def test(self, asked: TriedPolicy) -> TrialView:
        """Every expectation beside what the engine says, over the policy's rules alone."""
        policy = parsed_policy(asked.policy, "policy")
        fallback = load(asked.profile or DEFAULT_PROFILE).name
        live = await self._policy.live()

        def ruleset_of(profile: str) -> RuleSet:
            return ruleset_over(_rules(policy), load(profile or fallback), live)

        def card_named(profile: str, tool: str) -> ToolCard | None:
            found = card_of(load(profile or fallback), tool) or live.named(tool)
            # A server's tools are tried by name before the server is there.
            is_remote = tool.startswith(MCP_PREFIX)
            return found or (unregistered_card(tool) if is_remote else None)

        outcomes = run_expectations(ruleset_of, policy.expectations, card_named)
        passed = sum(outcome.passed for outcome in outcomes)
        return TrialView(
            passed=passed,
            failed=len(outcomes) - passed,
            results=[_result(outcome, fallback) for outcome in outcomes],
            warnings=_warnings(policy, live),
        )

    async def difference(self, asked: ComparedPolicies, by: str) -> DifferenceView:
        """The cells that two policies decide apart; the one left out is the one in force."""
        standpoint = await self._policy.standpoint(by, None, None, asked.profile)
        live = await self._policy.live()
        sides = [
            await self._side(given, field, standpoint, live)
            for field, given in (("before", asked.before), ("after", asked.after))
        ]
        cards = surface_of(standpoint.profile, live)
        before, after = (matrix(ruleset, cards, MODES) for ruleset in sides)
        changes = change_views(difference(before, after))
        wider = sum(change.wider for change in changes)
        return DifferenceView(
            cells=sum(len(row.cells) for row in after),
            wider=wider,
            narrower=len(changes) - wider,
            changes=changes,
        )

    async def _side(
        self,
        given: str | dict[str, Any] | None,
        field: str,
        standpoint: Standpoint,
        live: LiveTools,
    ) -> RuleSet:
        if given is None:
            return await self._policy.ruleset(standpoint, live)
        return ruleset_over(_rules(parsed_policy(given, field)), standpoint.profile, live)


def parsed_policy(given: str | dict[str, Any], field: str) -> Policy:
    """The policy of a TOML or JSON text, or of the object that it says."""
    decoded = given if isinstance(given, dict) else _decoded(given, field)
    try:
        msgspec.json.encode(decoded)
    except (UnicodeEncodeError, RecursionError, OverflowError, TypeError) as error:
        raise Invalid(
            f"{field} holds what JSON cannot carry, such as half of a surrogate pair",
            code="bad_character",
            field=field,
        ) from error
    return read_policy(decoded)


def _decoded(given: str, field: str) -> dict[str, Any]:
    try:
        if given.lstrip().startswith("{"):
            return dict(json.loads(given))
        return tomllib.loads(given)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise Invalid(
            f"{field} is neither TOML nor a JSON object: {error}",
            code="malformed_policy",
            field=field,
        ) from error


def _rules(policy: Policy) -> tuple[Rule, ...]:
    return tuple(each.rule for each in policy.rules)


def _result(outcome: Outcome, fallback: str) -> ResultView:
    expected = outcome.expectation
    return ResultView(
        tool=shown_tool(expected.tool, expected.label),
        mode=expected.mode,
        profile=expected.profile or fallback,
        passed=outcome.passed,
        expected=ExpectedView(
            decision=expected.decision, pattern=expected.pattern, scope=expected.scope
        ),
        got=decision_view(outcome.verdict) if outcome.verdict else None,
        wrong=outcome.wrong,
    )


def _warnings(policy: Policy, live: LiveTools) -> list[str]:
    known = known_names(live)
    found = (
        check_names(rule.pattern, known)
        for rule in _rules(policy)
        if not rule.pattern.startswith(MCP_PREFIX)
    )
    return [unknown.said for unknown in found if unknown]
