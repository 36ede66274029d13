"""Permission rules: what one says, the scopes they live in, the built-in tier below them."""

import difflib
from collections.abc import Iterable
from typing import Literal, get_args

import msgspec

from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.events import Decision, Effect

Scope = Literal["session", "project", "user", "builtin"]
Origin = Literal["static", "hook_update", "approval"]

# In the order of the search (K-38); the built-in tier comes last (O1).
SCOPES: tuple[Scope, ...] = get_args(Scope)
EFFECTS: tuple[Effect, ...] = get_args(Effect)
DECISIONS: tuple[Decision, ...] = get_args(Decision)

# Only a deny in one of these can be locked (O15).
LOCKABLE: tuple[Scope, ...] = ("project", "user")
LONGEST_PATTERN = 200
# Their label would be a command's text, and a rule on that gives false safety (F5).
RUN_COMMANDS = ("bash", "exec")
# The one label of bash: a call that asks for the network, whatever its words.
NETWORK = "network"


class Rule(msgspec.Struct, frozen=True):
    """One line of policy: a name, a prefix ending in `*`, an effect as `@process` or `*`, and what
    it decides. A name may carry a label after a colon, as in `use_prompt:mcp__a__greet` (O14).

    `locked`: no rule of a lower scope and no narrower one of its own beats this deny (O25).
    """

    pattern: str
    decision: Decision
    scope: Scope
    origin: Origin = "static"
    locked: bool = False

    @property
    def locks(self) -> bool:
        """Whether the lock counts: on a deny in scope project or user, nowhere else."""
        return self.locked and self.decision == "deny" and self.scope in LOCKABLE


class UnknownTool(msgspec.Struct, frozen=True):
    """A rule names a tool that nobody has. `nearest` is the name probably meant, or ""."""

    pattern: str
    nearest: str

    @property
    def said(self) -> str:
        """The warning, as a person reads it."""
        meant = f"; did you mean {self.nearest}?" if self.nearest else ""
        return f"no tool is called {self.pattern}, so this rule matches nothing{meant}"


# The ten defaults of K-33, as a tier below user rules (O1).
BUILTIN: tuple[Rule, ...] = tuple(
    Rule(pattern, "ask", "builtin")
    for pattern in (
        "bash",
        "write_file",
        "edit_file",
        "apply_patch",
        "mcp__*",
        "list_mcp_resources",
        "list_mcp_resource_templates",
        "read_mcp_resource",
        "exit_plan_mode",
    )
) + (Rule("*", "allow", "builtin"),)


def granted_rules(canonical_names: tuple[str, ...]) -> tuple[Rule, ...]:
    """The session rules that a person's "allow for this workstream" made."""
    return tuple(Rule(name, "allow", "session", "approval") for name in canonical_names)


def check_rule(rule: Rule, field: str = "") -> None:
    """Raises Invalid for a malformed pattern or a lock where none counts. `field`: where the rule
    stands, put before the name of the field that is to blame, as in `rule[3].pattern`.
    """
    where = f"{field}." if field else ""
    check_pattern(rule.pattern, f"{where}pattern")
    if rule.locked and not rule.locks:
        raise Invalid(
            "only a deny in scope project or user can be locked; "
            f"this is {rule.decision} in scope {rule.scope}: leave locked out",
            field=f"{where}locked",
        )


def check_pattern(text: str, field: str = "pattern") -> None:
    """Raises Invalid, naming `field` and the mend, unless a rule may carry this pattern. There are
    no rules on a command's text, since a shell dodges them (F5).
    """
    if not text.strip():
        raise Invalid("a pattern is empty: write a tool's name, name*, @effect or *", field=field)
    if len(text) > LONGEST_PATTERN:
        raise Invalid(
            f"a pattern has {len(text)} characters, at most {LONGEST_PATTERN} are allowed: "
            "end a shorter one with *",
            field=field,
        )
    if wrong := _malformed(text):
        raise Invalid(f"the pattern {text!r} {wrong}", field=field)


def _malformed(text: str) -> str:
    if any(not sign.isprintable() or sign.isspace() for sign in text):
        return "holds a blank or a control character: a rule names tools, never a command's words"
    if "(" in text or ")" in text:
        return "holds a bracket: name a tool, or a tool and a label as in use_prompt:name"
    if "*" in text[:-1]:
        return "has a * before its end: a * may only stand last, as in mcp__linear__*"
    return _wrong_effect(text[1:]) if text.startswith("@") else _wrong_label(text)


def _wrong_label(text: str) -> str:
    tool, colon, label = text.partition(":")
    if colon and not (tool and label):
        return "lacks the tool or the label beside its colon: write it as use_prompt:name"
    if colon and tool in RUN_COMMANDS and (tool, label) != ("bash", NETWORK):
        beside = f", or bash:{NETWORK} for calls that ask for the network" if tool == "bash" else ""
        return f"speaks of a command's words, which a shell dodges: name {tool} alone{beside}"
    return ""


def _wrong_effect(effect: str) -> str:
    if effect in EFFECTS:
        return ""
    near = difflib.get_close_matches(effect, EFFECTS, n=1, cutoff=0.5)
    meant = f"did you mean @{near[0]}? " if near else ""
    return f"names no effect: {meant}There are {', '.join('@' + each for each in EFFECTS)}"


def check_names(
    pattern: str, known: Iterable[str], *, strict: bool = False, field: str = "pattern"
) -> UnknownTool | None:
    """A warning where an exact pattern names no tool of `known` (every name that a tool has), with
    the nearest one; Invalid instead when `strict`. Prefixes, effects and `*` name no single tool.
    """
    if pattern.startswith("@") or (pattern.endswith("*") and ":" not in pattern):
        return None
    names = set(known)
    tool = pattern.partition(":")[0]
    if tool in names:
        return None
    near = difflib.get_close_matches(tool, sorted(names), n=1, cutoff=0.5)
    unknown = UnknownTool(tool, near[0] if near else "")
    if strict:
        raise Invalid(unknown.said, field=field)
    return unknown


def asks_once_more(rule: Rule) -> bool:
    """Whether saving this rule shows what it changes first: a `*` allow of the project or the user
    overrides the built-in asks (O28).
    """
    return rule.pattern == "*" and rule.decision == "allow" and rule.scope in LOCKABLE
