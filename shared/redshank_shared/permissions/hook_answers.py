"""What hooks make of a verdict: any block wins, never does a deny become anything else (O12)."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from redshank_shared.domain.errors import Invalid, NotAllowed
from redshank_shared.permissions.decision import Verdict
from redshank_shared.permissions.rules import Rule, check_pattern

Behavior = Literal["approve", "block", "none"]
FailurePolicy = Literal["open", "closed"]

MOST_UPDATES = 100


class HookAnswer(msgspec.Struct, frozen=True):
    """What one hook said. `failed`: it hung, could not be reached or answered rubbish; then only
    its `policy` counts and `reason` says what went wrong. `rule_updates`: as the hook sent them,
    unchecked.
    """

    hook: str
    behavior: Behavior = "none"
    failed: bool = False
    policy: FailurePolicy = "closed"
    reason: str = ""
    rule_updates: tuple[Rule, ...] = ()

    @property
    def blocks(self) -> bool:
        """A block, or a failure that is closed."""
        return self.policy == "closed" if self.failed else self.behavior == "block"

    @property
    def approves(self) -> bool:
        """An approval; a hook that failed never approves, whatever it said before."""
        return self.behavior == "approve" and not self.failed


def combined(verdict: Verdict, answers: Sequence[HookAnswer]) -> Verdict:
    """The final verdict, as the audit records it (K-41, K-44). An ask is denied where any hook
    blocks, else allowed where one approves, else left to a person; a failure that is open leaves
    the ask as it is (O12). On a deny hooks only add words (O13); an allow asks no hook.
    """
    if verdict.decision == "deny":
        return _with_words(verdict, answers)
    if verdict.decision == "allow":
        return verdict
    for answer in answers:
        if answer.blocks:
            said = "failed, which counts as a block" if answer.failed else "blocks it"
            return _settled(verdict, "deny", answer, said)
    for answer in answers:
        if answer.approves:
            return _settled(verdict, "allow", answer, "approves it")
    return _left_to_a_person(verdict, answers)


def _settled(
    verdict: Verdict, decision: Literal["allow", "deny"], by: HookAnswer, said: str
) -> Verdict:
    return msgspec.structs.replace(
        verdict,
        decision=decision,
        why=f"{verdict.why}; the hook {by.hook} {said}{_reason(by)}",
        hook=by.hook,
        hook_reason=by.reason,
    )


def _left_to_a_person(verdict: Verdict, answers: Sequence[HookAnswer]) -> Verdict:
    failed = "".join(
        f"; the hook {each.hook} failed, so a person decides{_reason(each)}"
        for each in answers
        if each.failed
    )
    return msgspec.structs.replace(verdict, why=verdict.why + failed) if failed else verdict


def _with_words(verdict: Verdict, answers: Sequence[HookAnswer]) -> Verdict:
    words = "".join(
        f"; the hook {each.hook} adds: {each.reason}"
        for each in answers
        if each.reason and not each.failed
    )
    return msgspec.structs.replace(verdict, why=verdict.why + words) if words else verdict


def _reason(answer: HookAnswer) -> str:
    return f": {answer.reason}" if answer.reason else ""


def checked_updates(updates: Sequence[Rule], *, denied: bool = False) -> tuple[Rule, ...]:
    """A hook's rule updates with origin hook_update. One that a hook may not make refuses the whole
    batch, and no rule changes (K-43): NotAllowed for any scope but session, a lock, a `*` allow or,
    where the call is `denied`, any update at all (O13); Invalid for a malformed pattern or more
    than 100 updates. `field` names the first to blame.
    """
    if denied and updates:
        raise NotAllowed(
            "a hook on a denied call may add words, no rules: leave rule_updates out",
            field="rule_updates",
        )
    if len(updates) > MOST_UPDATES:
        raise Invalid(
            f"a hook sent {len(updates)} rule updates, at most {MOST_UPDATES} are taken: "
            "use prefixes as in mcp__linear__*",
            field="rule_updates",
        )
    return tuple(_checked(update, f"rule_updates[{at}]") for at, update in enumerate(updates))


def _checked(update: Rule, field: str) -> Rule:
    if update.scope != "session":
        raise NotAllowed(
            f"a hook may change rules at scope session only, not at {update.scope}: "
            "no rule of this answer holds",
            field=f"{field}.scope",
        )
    if update.locked:
        raise NotAllowed("a hook may not lock a rule: leave locked out", field=f"{field}.locked")
    check_pattern(update.pattern, f"{field}.pattern")
    if update.pattern == "*" and update.decision == "allow":
        raise NotAllowed(
            "a hook may not allow every tool: name tools or a prefix as in mcp__linear__*",
            field=f"{field}.pattern",
        )
    return Rule(update.pattern, update.decision, "session", "hook_update")


def merged_updates(present: Sequence[Rule], updates: Sequence[Rule]) -> tuple[Rule, ...]:
    """A workstream's hook rules after more of them: the same pattern is replaced where it stands,
    a new one goes behind (K-43).
    """
    by_pattern = {rule.pattern: rule for rule in present}
    by_pattern.update((update.pattern, update) for update in updates)
    return tuple(by_pattern.values())
