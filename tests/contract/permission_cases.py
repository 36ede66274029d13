"""Reads the cases of the permission tables, asks the engine what it says of each."""

import pathlib
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from redshank_shared.domain.events import Mode
from redshank_shared.domain.scopes import CapabilityScope, intersect, tool_visible
from redshank_shared.permissions.decision import Verdict, judge
from redshank_shared.permissions.rules import Rule, check_rule
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.permissions.tool_card import ToolCard, subject, unregistered_card
from redshank_shared.profiles.profile import Profile, load

_FOLDER = pathlib.Path(__file__).parent / "cases"

# How the table shortens what a mode changed (K-45).
EFFECTS = {
    "-": "",
    "edits": "accept_edits_auto_allowed_edit_approval",
    "bypass": "bypass_permissions_auto_allowed_approval",
    "unlisted": "plan_mode_denied_non_whitelisted_tool",
    "nobody": "dont_ask_denied_approval",
}
NOT_HELD = "~"
_COLUMNS = ("decision", "base", "pattern", "scope", "effect", "origin")


class Case(msgspec.Struct, frozen=True):
    """A call under rules in a mode; `expected`: the columns that are held, by name."""

    id: str
    why: str
    profile: str
    mode: Mode
    tool: str
    label: str
    rules: tuple[Rule, ...]
    plan_tools: frozenset[str]
    expected: dict[str, str]
    capability: CapabilityScope = CapabilityScope()


def table(name: str) -> dict[str, Any]:
    """A file of cases, as it is written."""
    return tomllib.loads((_FOLDER / name).read_text())


def groups() -> list[dict[str, Any]]:
    """The groups of our own table."""
    return list(table("permission_table.toml")["group"])


def cases_of(group: dict[str, Any]) -> Iterator[Case]:
    """The cases of a group, one a line."""
    rules = tuple(_rule(line) for line in group.get("rules", []))
    for at, line in enumerate(group["cases"].strip().splitlines()):
        mode, call, *columns = line.split()
        tool, _, label = call.partition(":")
        held = dict(zip(_COLUMNS, columns, strict=False))
        held["effect"] = EFFECTS.get(held["effect"], NOT_HELD)
        yield Case(
            id=f"{group['id']}-{at + 1:02}-{mode}-{call}",
            why=group["why"],
            profile=group.get("profile", "kheish"),
            mode=msgspec.convert(mode, Mode),
            tool=tool,
            label=label,
            rules=rules,
            plan_tools=frozenset(group.get("plan_tools", ())),
            expected={name: text for name, text in held.items() if text != NOT_HELD},
        )


def verdict_on(case: Case) -> Verdict | None:
    """What the engine says; None where the tool is hidden (K-5)."""
    profile = load(case.profile)
    card = _card(profile, case)
    if not tool_visible(case.capability, card.names, card.effect, card.server):
        return None
    for rule in case.rules:
        check_rule(rule)
    ruleset = RuleSet((*case.rules, *profile.rules))
    return judge(ruleset, case.mode, subject(card, case.label), card.plan)


def capability_of(*scopes: dict[str, list[str]]) -> CapabilityScope:
    """What all of these scopes leave together (O5)."""
    together = CapabilityScope()
    for scope in scopes:
        together = intersect(together, msgspec.convert(scope, CapabilityScope))
    return together


def rules_from(written: Iterable[dict[str, Any]]) -> tuple[Rule, ...]:
    """Rules as the given table writes them, each a table of its own."""
    return tuple(msgspec.convert(rule, Rule) for rule in written)


def _card(profile: Profile, case: Case) -> ToolCard:
    by_name = {card.name: card for card in profile.tools}
    if case.tool.startswith("mcp__"):
        by_name[case.tool] = unregistered_card(case.tool)
    card = by_name[case.tool]
    return msgspec.structs.replace(card, plan=card.plan or case.tool in case.plan_tools)


def _rule(line: str) -> Rule:
    scope, pattern, decision, *more = line.split()
    return msgspec.convert(
        {
            "scope": scope,
            "pattern": pattern,
            "decision": decision,
            "origin": "hook_update" if "hook" in more else "static",
            "locked": "locked" in more,
        },
        Rule,
    )
