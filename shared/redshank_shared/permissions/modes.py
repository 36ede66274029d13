"""What the five modes make of a rule's decision, by effect, never by name (K-35, K-36)."""

from typing import Literal, assert_never

from redshank_shared.domain.events import Decision, Effect, Mode

# What K-45 lets a mode report. The third is never reported here: a tool on the plan list keeps its
# base decision, and only what changed the result may be named.
ModeEffect = Literal[
    "accept_edits_auto_allowed_edit_approval",
    "bypass_permissions_auto_allowed_approval",
    "plan_mode_allowed_read_only_or_coordination_tool",
    "plan_mode_denied_non_whitelisted_tool",
    "dont_ask_denied_approval",
    "",
]


def under_mode(
    mode: Mode, base: Decision, effect: Effect, plan_listed: bool
) -> tuple[Decision, ModeEffect]:
    """The decision under this mode, and the name of what the mode changed, or "" where it changed
    nothing (K-45). A deny stays a deny in every mode (K-36).
    """
    if base == "deny":
        return "deny", ""
    match mode:
        case "default":
            return base, ""
        case "acceptEdits":
            edit = base == "ask" and effect == "write"
            return ("allow", "accept_edits_auto_allowed_edit_approval") if edit else (base, "")
        case "bypassPermissions":
            asks = base == "ask"
            return ("allow", "bypass_permissions_auto_allowed_approval") if asks else (base, "")
        case "plan":
            return (base, "") if plan_listed else ("deny", "plan_mode_denied_non_whitelisted_tool")
        case "dontAsk":
            return ("deny", "dont_ask_denied_approval") if base == "ask" else (base, "")
        case _:
            assert_never(mode)
