"""Says whether what let a call run still does when it starts."""

import msgspec

from redshank_shared.domain.workstream import Call
from redshank_shared.permissions.decision import Verdict


def denied_by_now(call: Call, verdict: Verdict, *, is_known: bool) -> Verdict | None:
    """The denial of a call that was allowed and may not start any more, else None. `verdict`: on
    the call as things are; `is_known`: the rules behind it could be read.

    A deny by rule counts, whoever allowed the call (K-36). What no person was asked about needs, in
    the moment it starts, what allowed it: a mode that was changed since, a grant that was taken
    back count too (F39). What a hook approved stands until rules or mode deny it.
    """
    if verdict.base_decision == "deny":
        return verdict
    if call.status != "allowed" or not is_known or verdict.decision == "allow":
        return None
    if verdict.decision == "deny":
        return verdict
    if call.decided is not None and call.decided.hook:
        return None
    why = f"{verdict.why}; what allowed it holds no more, so ask for it again"
    return msgspec.structs.replace(verdict, decision="deny", why=why)
