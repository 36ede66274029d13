"""The tables that every process reads, in SQLAlchemy Core's words."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    or_,
)

from redshank_shared.stores.columns import identity, metadata, number, seconds, text, texts
from redshank_shared.stores.dialect import partial_index

workstreams = Table(
    "workstreams",
    metadata,
    identity("id"),
    number("version"),
    Column("pending", Boolean, nullable=False),
    seconds("pending_since", nullable=True),
    *texts("created_at", "updated_at", "name", "title", "search_text", "owner", "profile"),
    *texts("persona", "mode", "model", "labels", "parent", "directed_to", "state"),
    *texts("waiting_for", "waiting_kinds", "detail"),
    number("input_tokens"),
    number("output_tokens"),
    number("calls"),
    number("pending_approvals"),
    text("lease_node", nullable=True),
    text("lease_previous", nullable=True),
    number("lease_epoch"),
    seconds("lease_until", nullable=True),
    number("attempts"),
)
Index("workstreams_by_update", workstreams.c.updated_at, workstreams.c.id)
partial_index("workstreams_pending", workstreams.c.pending_since, where=workstreams.c.pending)
partial_index(
    "workstreams_leased",
    workstreams.c.lease_node,
    where=workstreams.c.lease_node.is_not(None),
)

events = Table(
    "events",
    metadata,
    text("workstream_id"),
    number("seq"),
    text("kind"),
    text("at"),
    text("fact"),
    PrimaryKeyConstraint("workstream_id", "seq", name="events_pkey"),
)

approvals = Table(
    "approvals",
    metadata,
    identity("request_id"),
    text("workstream_id"),
    text("state"),
    text("requested_at"),
    text("request"),
    text("resolved_at", nullable=True),
    text("resolved_by", nullable=True),
    text("scope", nullable=True),
    text("reason", nullable=True),
    seconds("expires_at", nullable=True),
)
Index("approvals_by_workstream", approvals.c.workstream_id, approvals.c.requested_at)
partial_index(
    "approvals_pending",
    approvals.c.requested_at,
    approvals.c.request_id,
    where=approvals.c.state == "pending",
)
partial_index("approvals_expiring", approvals.c.expires_at, where=approvals.c.state == "pending")
partial_index(
    "approvals_decided",
    approvals.c.resolved_at,
    approvals.c.request_id,
    where=approvals.c.state != "pending",
)

questions = Table(
    "questions",
    metadata,
    identity("request_id"),
    text("workstream_id"),
    text("kind"),
    text("state"),
    text("asked_at"),
    text("request"),
    seconds("expires_at", nullable=True),
    text("answered_at", nullable=True),
    text("answered_by", nullable=True),
    text("answers", nullable=True),
)
Index("questions_by_workstream", questions.c.workstream_id, questions.c.asked_at)
partial_index(
    "questions_pending",
    questions.c.asked_at,
    questions.c.request_id,
    where=questions.c.state == "pending",
)
partial_index("questions_expiring", questions.c.expires_at, where=questions.c.state == "pending")

permission_audits = Table(
    "permission_audits",
    metadata,
    text("workstream_id"),
    number("seq"),
    text("at"),
    text("decision"),
    text("fact"),
    PrimaryKeyConstraint("workstream_id", "seq", name="permission_audits_pkey"),
)

permission_rules = Table(
    "permission_rules",
    metadata,
    identity("rule_id"),
    text("scope"),
    text("subject"),
    text("pattern"),
    text("decision"),
    Column("locked", Boolean, nullable=False),
    text("origin"),
    number("position"),
    text("note"),
    text("created_by"),
    text("created_at"),
    UniqueConstraint("scope", "subject", "pattern", name="permission_rules_once"),
)

policy_revisions = Table(
    "policy_revisions",
    metadata,
    identity("name"),
    number("revision"),
)
# The name under which the stored rules have their revision.
RULES = "rules"

tool_limits = Table(
    "tool_limits",
    metadata,
    Column("revision", BigInteger, primary_key=True, autoincrement=False, nullable=False),
    text("limits"),
    text("set_by"),
    text("set_at"),
)

ledger = Table(
    "ledger",
    metadata,
    text("workstream_id"),
    number("position"),
    text("call_id"),
    text("record"),
    text("record_hash"),
    text("key_id"),
    text("signature"),
    PrimaryKeyConstraint("workstream_id", "position", name="ledger_pkey"),
)

ledger_keys = Table(
    "ledger_keys",
    metadata,
    identity("key_id"),
    text("public_key"),
    text("created_at"),
)

assets = Table(
    "assets",
    metadata,
    identity("digest"),
    text("media_type"),
    number("size"),
    text("created_at"),
    Column("body", LargeBinary, nullable=False),
)

asset_references = Table(
    "asset_references",
    metadata,
    text("workstream_id"),
    text("digest"),
    PrimaryKeyConstraint("workstream_id", "digest", name="asset_references_pkey"),
    Index("asset_references_by_digest", "digest"),
)

hook_dead_letters = Table(
    "hook_dead_letters",
    metadata,
    identity("dead_letter_id"),
    text("at"),
    text("hook"),
    text("workstream_id"),
    text("call_id"),
    number("attempts"),
    text("detail"),
    text("payload"),
)
Index("hook_dead_letters_by_age", hook_dead_letters.c.at)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    text("scope"),
    text("key"),
    text("request_digest"),
    number("status"),
    text("answer"),
    seconds("created_at"),
    PrimaryKeyConstraint("scope", "key", name="idempotency_keys_pkey"),
)
Index("idempotency_keys_by_age", idempotency_keys.c.created_at)

leaders = Table(
    "leaders",
    metadata,
    identity("name"),
    text("holder"),
    seconds("until"),
)

services = Table(
    "services",
    metadata,
    identity("service_id"),
    text("kind"),
    text("address"),
    text("version"),
    text("started_at"),
    text("report"),
    text("surface"),
    text("mcp"),
    seconds("heartbeat_at"),
)

outbox = Table(
    "outbox",
    metadata,
    identity("delivery_id"),
    text("workstream_id"),
    text("kind"),
    text("payload"),
    text("created_at"),
    seconds("due_at"),
    number("attempts"),
)
Index("outbox_by_due", outbox.c.due_at, outbox.c.delivery_id)

tokens = Table(
    "tokens",
    metadata,
    identity("token_hash"),
    text("token_id"),
    text("kind"),
    text("name"),
    text("role"),
    text("scopes"),
    text("label"),
    text("created_by"),
    seconds("expires_at", nullable=True),
    seconds("created_at"),
)
Index("tokens_by_name", tokens.c.name, tokens.c.created_at)

users = Table(
    "users",
    metadata,
    identity("name"),
    text("role"),
    text("state"),
    text("created_by"),
    text("created_at"),
    text("updated_at"),
)

admin_audits = Table(
    "admin_audits",
    metadata,
    identity("audit_id"),
    *texts("at", "who", "act", "target", "detail"),
)
Index("admin_audits_by_age", admin_audits.c.at, admin_audits.c.audit_id)

secrets = Table(
    "secrets",
    metadata,
    identity("slot"),
    text("state"),
    number("version"),
    text("key_id"),
    text("sealed"),
    text("updated_by"),
    text("updated_at"),
)

watch_tokens = Table(
    "watch_tokens",
    metadata,
    identity("token_hash"),
    *texts("schedule_id", "workstream_id", "created_at"),
    seconds("window_at"),
    number("pushes"),
    UniqueConstraint("schedule_id", name="watch_tokens_once"),
)

watch_pushes = Table(
    "watch_pushes",
    metadata,
    identity("run_id"),
    text("schedule_id"),
    text("workstream_id"),
    seconds("pushed_at"),
    text("output"),
)
Index("watch_pushes_by_schedule", watch_pushes.c.schedule_id, watch_pushes.c.pushed_at)

schedules = Table(
    "schedules",
    metadata,
    identity("schedule_id"),
    text("workstream_id"),
    text("name"),
    text("kind"),
    text("state"),
    text("spec"),
    text("cadence"),
    seconds("next_due", nullable=True),
    number("runs"),
    text("last_output", nullable=True),
    text("created_at"),
    text("updated_at"),
    text("detail"),
)
Index("schedules_by_workstream", schedules.c.workstream_id, schedules.c.created_at)
partial_index("schedules_due", schedules.c.next_due, where=schedules.c.state == "active")

schedule_runs = Table(
    "schedule_runs",
    metadata,
    identity("run_id"),
    text("schedule_id"),
    text("workstream_id"),
    text("kind"),
    seconds("due_at"),
    text("state"),
    seconds("handed_at"),
    seconds("began_at", nullable=True),
    text("node"),
    text("detail"),
    UniqueConstraint("schedule_id", "due_at", name="schedule_runs_once"),
)
partial_index(
    "schedule_runs_open",
    schedule_runs.c.handed_at,
    where=or_(schedule_runs.c.state == "handed", schedule_runs.c.state == "started"),
)

tasks = Table(
    "tasks",
    metadata,
    identity("task_id"),
    *texts("workstream_id", "kind", "subject", "description", "state", "reason", "command"),
    number("exit_code", nullable=True),
    text("node_id"),
    seconds("seen_at", nullable=True),
    Column("stop_asked", Boolean, nullable=False),
    text("output"),
    number("output_bytes"),
    *texts("created_at", "updated_at"),
)
Index("tasks_by_workstream", tasks.c.workstream_id, tasks.c.created_at)
partial_index("tasks_running", tasks.c.seen_at, where=tasks.c.state == "in_progress")
