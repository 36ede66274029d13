"""Whether a call may run, with the whole reason: (rules, mode, subject) -> verdict."""

import msgspec

from redshank_shared.domain.events import Decision, Mode
from redshank_shared.permissions.matching import Subject
from redshank_shared.permissions.modes import under_mode
from redshank_shared.permissions.rules import Rule, Scope
from redshank_shared.permissions.ruleset import RuleSet

TOOL_CHANGED = "its server says something else of it than what was accepted, so a person is asked"


class Verdict(msgspec.Struct, frozen=True):
    """What was decided and why (K-45). The built-in tier reports its `scope` as session (O1).

    `mode_effect` is "" unless the mode changed the result; `pattern` is "" where no rule matched;
    `locked`: the rule is a locked deny (O25); `hook`: the hook that settled it, or "",
    with its reason.
    """

    decision: Decision
    base_decision: Decision
    effective_mode: Mode
    mode_effect: str
    pattern: str
    scope: str
    origin: str
    why: str
    locked: bool = False
    hook: str = ""
    hook_reason: str = ""


def judge(ruleset: RuleSet, mode: Mode, subject: Subject, plan_listed: bool) -> Verdict:
    """The verdict on a call. Where no rule matches at all, a person is asked."""
    return verdict_of(ruleset.match(subject), mode, subject, plan_listed)


def verdict_of(rule: Rule | None, mode: Mode, subject: Subject, plan_listed: bool) -> Verdict:
    """The verdict where the rule that decides is known already, as for the modes of one tool."""
    if subject.insisted and rule is not None and _is_general_allow(rule):
        rule = None
    base: Decision = rule.decision if rule else "ask"
    decision, mode_effect = under_mode(mode, base, subject.effect, plan_listed)
    said = _said(rule, subject)
    return Verdict(
        decision=decision,
        base_decision=base,
        effective_mode=mode,
        mode_effect=mode_effect,
        pattern=rule.pattern if rule else "",
        scope=_reported_scope(rule),
        origin=rule.origin if rule else "static",
        why=f"{said}; mode {mode} makes it {decision}" if mode_effect else said,
        locked=rule is not None and rule.locks,
    )


def asked_anew(verdict: Verdict, why: str) -> Verdict:
    """The verdict where a person must decide, whatever rule or mode allows it (F64): an allow
    becomes an ask, or in mode dontAsk, which asks nobody, a denial.
    """
    if verdict.decision != "allow":
        return verdict
    asks_nobody = verdict.effective_mode == "dontAsk"
    return msgspec.structs.replace(
        verdict,
        decision="deny" if asks_nobody else "ask",
        base_decision="ask",
        mode_effect="dont_ask_denied_approval" if asks_nobody else "",
        why=f"{verdict.why}; yet {why}",
    )


def barred(verdict: Verdict, server: str) -> Verdict:
    """The denial of a call that the engine lets run, to an MCP server that the workstream's
    credential scope does not let it use (K-68).
    """
    return msgspec.structs.replace(
        verdict,
        decision="deny",
        base_decision="deny",
        mode_effect="",
        pattern="",
        scope="",
        origin="boundary",
        why=(
            f"the workstream's credential scope does not let it use the MCP server {server}; "
            "begin one with a wider scope, or do it another way"
        ),
    )


def _is_general_allow(rule: Rule) -> bool:
    return rule.decision == "allow" and ":" not in rule.pattern


def _reported_scope(rule: Rule | None) -> str:
    if rule is None:
        return ""
    return "session" if rule.scope == "builtin" else rule.scope


_GRANTED_FOR: dict[Scope, str] = {"session": "this workstream"}


def _said(rule: Rule | None, subject: Subject) -> str:
    if rule is None and subject.insisted:
        leads = "asks for the" if subject.effect == "process" else "leads into a private"
        return f"it {leads} network, which no rule names, so a person is asked"
    if rule is None:
        return "no rule matches, so a person is asked"
    if rule.origin == "approval":
        whole = _GRANTED_FOR.get(rule.scope, f"this {rule.scope}, for always,")
        return f"{rule.pattern} was allowed for {whole} by a person"
    if rule.origin == "hook_update":
        said = f"the {rule.scope} rule {rule.pattern} that a hook made says {rule.decision}"
    elif rule.scope == "builtin":
        said = f"the default rule {rule.pattern} says {rule.decision}"
    else:
        locked = "locked " if rule.locks else ""
        said = f"the {locked}{rule.scope} rule {rule.pattern} says {rule.decision}"
    return f"{said}{_by_other_name(rule.pattern, subject)}"


def _by_other_name(pattern: str, subject: Subject) -> str:
    """Why a pattern speaks for a tool that it does not seem to name."""
    if pattern == "*" or pattern.startswith("@"):
        return ""
    shown = subject.names[0]
    tool = pattern.partition(":")[0]
    if tool == shown or (tool.endswith("*") and shown.startswith(tool[:-1])):
        return ""
    other = next((name for name in subject.names if _names(tool, name)), tool)
    return f" ({shown} is also called {other})"


def _names(pattern: str, name: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else pattern == name
