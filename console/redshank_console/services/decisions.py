"""Answers what was decided on a call, why, by whom."""

from typing import Any

from redshank_shared.stores.audits import AuditRow, Audits
from redshank_shared.stores.database import Database
from redshank_shared.wire.permission_views import CallDecisionView
from redshank_shared.wire.views import AuditView, PageView


class Decisions:
    """Reads only: the permission audits, wherever a call was made (B-6)."""

    def __init__(self, database: Database, audits: Audits) -> None:
        self._database = database
        self._audits = audits

    async def on_call(
        self, call_id: str, limit: int, cursor: str | None
    ) -> PageView[CallDecisionView]:
        """The decisions on calls whose ids begin so, oldest first; none for an unknown one."""
        page = await self._database.run(self._audits.of_call, call_id, limit, cursor)
        items = [
            CallDecisionView(workstream=row.workstream_id, **audit_fields(row))
            for row in page.items
        ]
        return PageView(items=items, next_cursor=page.next_cursor, total=page.total)


def audit_view(row: AuditRow) -> AuditView:
    """One decision of a workstream."""
    return AuditView(**audit_fields(row))


def audit_fields(row: AuditRow) -> dict[str, Any]:
    """Everything that K-45 wants to be known of a decision, the word of a person with it."""
    decided = row.decided
    return {
        "seq": row.seq,
        "at": row.at,
        "call_id": decided.call_id,
        "tool_call_id": decided.call_id,
        "tool": decided.tool,
        "tool_name": decided.tool,
        "canonical": decided.canonical,
        "effect": decided.effect,
        "decision": decided.decision,
        "base_decision": decided.base_decision,
        "effective_mode": decided.effective_mode,
        "mode_effect": decided.mode_effect,
        "pattern": decided.pattern,
        "scope": decided.scope,
        "origin": decided.origin,
        "why": decided.why,
        "hook": decided.hook,
        "hook_reason": decided.hook_reason,
        "input_digest": decided.input_digest,
        **_word_fields(row),
    }


def _word_fields(row: AuditRow) -> dict[str, Any]:
    word = row.word
    if word is None:
        return {}
    if word.resolved is None:
        return {"approval_request_id": word.request_id}
    return {
        "approval_request_id": word.request_id,
        "resolution": word.resolved.behavior,
        "resolved_by": word.resolved.by,
        "resolved_at": word.at,
        "resolution_scope": word.resolved.scope,
        "justification": word.resolved.justification,
        "reason": word.resolved.reason,
    }
