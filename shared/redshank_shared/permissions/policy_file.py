"""A policy as a file says it: rules, with the decisions that they are expected to give."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, cast, get_args

import msgspec

from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.events import MODES, Decision, Mode
from redshank_shared.permissions.decision import Verdict, judge
from redshank_shared.permissions.rules import DECISIONS, LOCKABLE, Rule, Scope, check_rule
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.permissions.tool_card import ToolCard, subject

Expected = Literal["allow", "ask", "deny", "unavailable"]
EXPECTED: tuple[Expected, ...] = get_args(Expected)
SHOWN_SCOPES = ("session", *LOCKABLE)

_Entry = Mapping[str, Any]
_Read = Callable[[_Entry, str], Any]


class PolicyRule(msgspec.Struct, frozen=True):
    """A rule of the file, with what its author noted beside it."""

    rule: Rule
    note: str = ""


class Expectation(msgspec.Struct, frozen=True):
    """What a call shall get. "" means: not looked at; `profile` "" is the caller's default one."""

    tool: str
    decision: Expected
    mode: Mode = "default"
    profile: str = ""
    label: str = ""
    pattern: str = ""
    scope: str = ""


class Policy(msgspec.Struct, frozen=True):
    """A whole policy file, in its order."""

    rules: tuple[PolicyRule, ...] = ()
    expectations: tuple[Expectation, ...] = ()


class Outcome(msgspec.Struct, frozen=True):
    """An expectation beside what was decided; `verdict` is None for a tool that is not there.
    `wrong` says in words what is not as expected, "" where all is.
    """

    expectation: Expectation
    verdict: Verdict | None
    wrong: str

    @property
    def passed(self) -> bool:
        """Whether everything is as expected."""
        return not self.wrong


def read_policy(decoded: Mapping[str, Any]) -> Policy:
    """The policy of a decoded TOML or JSON document with the tables `rule` and `expect` (B-5).
    Raises Invalid for the first thing that is wrong, with `field` as in `rule[3].pattern`, counted
    from 0, and the mend.
    """
    _check_keys(decoded, ("rule", "expect"), "")
    return Policy(
        tuple(_entries(decoded, "rule", _rule)), tuple(_entries(decoded, "expect", _expectation))
    )


def _entries(decoded: Mapping[str, Any], name: str, read: _Read) -> Iterable[Any]:
    listed = decoded.get(name, [])
    if not isinstance(listed, list):
        raise Invalid(f"{name} must be a list of tables: write [[{name}]]", field=name)
    for at, entry in enumerate(listed):
        where = f"{name}[{at}]"
        if not isinstance(entry, Mapping):
            raise Invalid(f"{where} must be a table: write [[{name}]]", field=where)
        yield read(entry, where)


def _rule(entry: _Entry, where: str) -> PolicyRule:
    _check_keys(entry, ("scope", "pattern", "decision", "locked", "note"), where)
    rule = Rule(
        _text(entry, "pattern", where),
        cast(Decision, _choice(entry, "decision", where, DECISIONS)),
        cast(Scope, _choice(entry, "scope", where, LOCKABLE)),
        locked=_flag(entry, "locked", where),
    )
    check_rule(rule, where)
    return PolicyRule(rule, _text(entry, "note", where, ""))


def _expectation(entry: _Entry, where: str) -> Expectation:
    _check_keys(entry, Expectation.__struct_fields__, where)
    tool = _text(entry, "tool", where)
    if not tool.strip():
        raise Invalid(f"{where}.tool is empty: name the tool that is called", field=f"{where}.tool")
    return Expectation(
        tool=tool,
        decision=cast(Expected, _choice(entry, "decision", where, EXPECTED)),
        mode=cast(Mode, _choice(entry, "mode", where, MODES, "default")),
        profile=_text(entry, "profile", where, ""),
        label=_text(entry, "label", where, ""),
        pattern=_text(entry, "pattern", where, ""),
        scope=_choice(entry, "scope", where, SHOWN_SCOPES, ""),
    )


def _check_keys(entry: _Entry, known: tuple[str, ...], where: str) -> None:
    for key in entry:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.5)
            mend = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            place = f"{where}.{key}" if where else str(key)
            raise Invalid(f"{place} is not known; {mend}", field=place)


def _choice(
    entry: _Entry, key: str, where: str, known: tuple[str, ...], default: str | None = None
) -> str:
    value = _text(entry, key, where, default)
    if value in known or (key not in entry and value == default):
        return value
    raise Invalid(
        f"{where}.{key} is {value[:80]!r}; it takes {', '.join(known)}", field=f"{where}.{key}"
    )


def _text(entry: _Entry, key: str, where: str, default: str | None = None) -> str:
    value = entry.get(key, default)
    if value is None:
        raise Invalid(f"{where} lacks {key}: add it", field=f"{where}.{key}")
    if not isinstance(value, str):
        raise Invalid(f"{where}.{key} must be text in quotes", field=f"{where}.{key}")
    return value


def _flag(entry: _Entry, key: str, where: str) -> bool:
    value = entry.get(key, False)
    if not isinstance(value, bool):
        raise Invalid(f"{where}.{key} must be true or false", field=f"{where}.{key}")
    return value


def run_expectations(
    ruleset_of: Callable[[str], RuleSet],
    expectations: Iterable[Expectation],
    card_of: Callable[[str, str], ToolCard | None],
) -> tuple[Outcome, ...]:
    """Every expectation beside what the engine decides on it, in their order, with no effect.
    `ruleset_of` gives the rules of a profile; `card_of` the tool of a profile under any of its
    names, None where it is hidden or not there.
    """
    return tuple(
        _outcome(
            expectation,
            ruleset_of(expectation.profile),
            card_of(expectation.profile, expectation.tool),
        )
        for expectation in expectations
    )


def _outcome(expected: Expectation, ruleset: RuleSet, card: ToolCard | None) -> Outcome:
    if card is None:
        there = expected.decision == "unavailable"
        wrong = "" if there else f"expected {expected.decision}, but there is no such tool"
        return Outcome(expected, None, wrong)
    called = subject(card, expected.label)
    verdict = judge(ruleset, expected.mode, called, card.plan)
    return Outcome(expected, verdict, _wrong(expected, verdict))


def _wrong(expected: Expectation, got: Verdict) -> str:
    looked_at = (
        ("decision", expected.decision, got.decision),
        ("pattern", expected.pattern, got.pattern),
        ("scope", expected.scope, got.scope),
    )
    differing = [
        f"{name} is {said or 'none'}, expected {wanted}"
        for name, wanted, said in looked_at
        if wanted and wanted != said
    ]
    return f"{'; '.join(differing)}: {got.why}" if differing else ""
