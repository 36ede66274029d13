"""What the five modes make of a rule's decision, by effect, never by name (K-35, K-36)."""

from redshank_shared.domain.events import Decision, Effect, Mode


def under_mode(
    mode: Mode, base: Decision, effect: Effect, plan_listed: bool
) -> tuple[Decision, str]:
    """The decision under this mode, and the name of what the mode changed, or "" where it changed
    nothing.
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
            return (
                ("allow", "bypass_permissions_auto_allowed_approval")
                if base == "ask"
                else (base, "")
            )
        case "plan":
            return (base, "") if plan_listed else ("deny", "plan_mode_denied_non_whitelisted_tool")
        case "dontAsk":
            return ("deny", "dont_ask_denied_approval") if base == "ask" else (base, "")
