"""The tables that every process reads, in SQLAlchemy Core's words."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    or_,
)

from redshank_shared.stores.dialect import partial_index

metadata = MetaData()


def _text(name: str, *, nullable: bool = False) -> Column[str]:
    return Column(name, Text, nullable=nullable)


def _texts(*names: str) -> list[Column[str]]:
    return [_text(name) for name in names]


def _number(name: str, *, nullable: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=nullable)


def _seconds(name: str, *, nullable: bool = False) -> Column[float]:
    return Column(name, Double, nullable=nullable)


def _identity(name: str) -> Column[str]:
    return Column(name, Text, primary_key=True, nullable=False)


workstreams = Table(
    "workstreams",
    metadata,
    _identity("id"),
    _number("version"),
    Column("pending", Boolean, nullable=False),
    _seconds("pending_since", nullable=True),
    *_texts("created_at", "updated_at", "name", "title", "search_text", "owner", "profile"),
    *_texts("persona", "mode", "model", "labels", "parent", "directed_to", "state"),
    *_texts("waiting_for", "waiting_kinds", "detail"),
    _number("input_tokens"),
    _number("output_tokens"),
    _number("calls"),
    _number("pending_approvals"),
    _text("lease_node", nullable=True),
    _text("lease_previous", nullable=True),
    _number("lease_epoch"),
    _seconds("lease_until", nullable=True),
    _number("attempts"),
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
    _text("workstream_id"),
    _number("seq"),
    _text("kind"),
    _text("at"),
    _text("fact"),
    PrimaryKeyConstraint("workstream_id", "seq", name="events_pkey"),
)

approvals = Table(
    "approvals",
    metadata,
    _identity("request_id"),
    _text("workstream_id"),
    _text("state"),
    _text("requested_at"),
    _text("request"),
    _text("resolved_at", nullable=True),
    _text("resolved_by", nullable=True),
    _text("scope", nullable=True),
    _text("reason", nullable=True),
    _seconds("expires_at", nullable=True),
)
Index("approvals_by_workstream", approvals.c.workstream_id, approvals.c.requested_at)
partial_index(
    "approvals_pending",
    approvals.c.requested_at,
    approvals.c.request_id,
    where=approvals.c.state == "pending",
)
partial_index("approvals_expiring", approvals.c.expires_at, where=approvals.c.state == "pending")

questions = Table(
    "questions",
    metadata,
    _identity("request_id"),
    _text("workstream_id"),
    _text("kind"),
    _text("state"),
    _text("asked_at"),
    _text("request"),
    _seconds("expires_at", nullable=True),
    _text("answered_at", nullable=True),
    _text("answered_by", nullable=True),
    _text("answers", nullable=True),
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
    _text("workstream_id"),
    _number("seq"),
    _text("at"),
    _text("decision"),
    _text("fact"),
    PrimaryKeyConstraint("workstream_id", "seq", name="permission_audits_pkey"),
)

permission_rules = Table(
    "permission_rules",
    metadata,
    _identity("rule_id"),
    _text("scope"),
    _text("subject"),
    _text("pattern"),
    _text("decision"),
    Column("locked", Boolean, nullable=False),
    _text("origin"),
    _number("position"),
    _text("note"),
    _text("created_by"),
    _text("created_at"),
    UniqueConstraint("scope", "subject", "pattern", name="permission_rules_once"),
)

policy_revisions = Table(
    "policy_revisions",
    metadata,
    _identity("name"),
    _number("revision"),
)
# The name under which the stored rules have their revision.
RULES = "rules"

tool_limits = Table(
    "tool_limits",
    metadata,
    Column("revision", BigInteger, primary_key=True, autoincrement=False, nullable=False),
    _text("limits"),
    _text("set_by"),
    _text("set_at"),
)

ledger = Table(
    "ledger",
    metadata,
    _text("workstream_id"),
    _number("position"),
    _text("call_id"),
    _text("record"),
    _text("record_hash"),
    _text("key_id"),
    _text("signature"),
    PrimaryKeyConstraint("workstream_id", "position", name="ledger_pkey"),
)

ledger_keys = Table(
    "ledger_keys",
    metadata,
    _identity("key_id"),
    _text("public_key"),
    _text("created_at"),
)

assets = Table(
    "assets",
    metadata,
    _identity("digest"),
    _text("media_type"),
    _number("size"),
    _text("created_at"),
    Column("body", LargeBinary, nullable=False),
)

asset_references = Table(
    "asset_references",
    metadata,
    _text("workstream_id"),
    _text("digest"),
    PrimaryKeyConstraint("workstream_id", "digest", name="asset_references_pkey"),
    Index("asset_references_by_digest", "digest"),
)

hook_dead_letters = Table(
    "hook_dead_letters",
    metadata,
    _identity("dead_letter_id"),
    _text("at"),
    _text("hook"),
    _text("workstream_id"),
    _text("call_id"),
    _number("attempts"),
    _text("detail"),
    _text("payload"),
)
Index("hook_dead_letters_by_age", hook_dead_letters.c.at)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    _text("scope"),
    _text("key"),
    _text("request_digest"),
    _number("status"),
    _text("answer"),
    _seconds("created_at"),
    PrimaryKeyConstraint("scope", "key", name="idempotency_keys_pkey"),
)
Index("idempotency_keys_by_age", idempotency_keys.c.created_at)

leaders = Table(
    "leaders",
    metadata,
    _identity("name"),
    _text("holder"),
    _seconds("until"),
)

services = Table(
    "services",
    metadata,
    _identity("service_id"),
    _text("kind"),
    _text("address"),
    _text("version"),
    _text("started_at"),
    _text("report"),
    _text("surface"),
    _seconds("heartbeat_at"),
)

outbox = Table(
    "outbox",
    metadata,
    _identity("delivery_id"),
    _text("workstream_id"),
    _text("kind"),
    _text("payload"),
    _text("created_at"),
    _seconds("due_at"),
    _number("attempts"),
)
Index("outbox_by_due", outbox.c.due_at, outbox.c.delivery_id)

tokens = Table(
    "tokens",
    metadata,
    _identity("token_hash"),
    _text("token_id"),
    _text("kind"),
    _text("name"),
    _text("role"),
    _text("scopes"),
    _text("label"),
    _text("created_by"),
    _seconds("expires_at", nullable=True),
    _seconds("created_at"),
)
Index("tokens_by_name", tokens.c.name, tokens.c.created_at)

users = Table(
    "users",
    metadata,
    _identity("name"),
    _text("role"),
    _text("state"),
    _text("created_by"),
    _text("created_at"),
    _text("updated_at"),
)

admin_audits = Table(
    "admin_audits",
    metadata,
    _identity("audit_id"),
    *_texts("at", "who", "act", "target", "detail"),
)
Index("admin_audits_by_age", admin_audits.c.at, admin_audits.c.audit_id)

secrets = Table(
    "secrets",
    metadata,
    _identity("slot"),
    _text("state"),
    _number("version"),
    _text("key_id"),
    _text("sealed"),
    _text("updated_by"),
    _text("updated_at"),
)

watch_tokens = Table(
    "watch_tokens",
    metadata,
    _identity("token_hash"),
    *_texts("schedule_id", "workstream_id", "created_at"),
    _seconds("window_at"),
    _number("pushes"),
    UniqueConstraint("schedule_id", name="watch_tokens_once"),
)

watch_pushes = Table(
    "watch_pushes",
    metadata,
    _identity("run_id"),
    _text("schedule_id"),
    _text("workstream_id"),
    _seconds("pushed_at"),
    _text("output"),
)
Index("watch_pushes_by_schedule", watch_pushes.c.schedule_id, watch_pushes.c.pushed_at)

schedules = Table(
    "schedules",
    metadata,
    _identity("schedule_id"),
    _text("workstream_id"),
    _text("name"),
    _text("kind"),
    _text("state"),
    _text("spec"),
    _text("cadence"),
    _seconds("next_due", nullable=True),
    _number("runs"),
    _text("last_output", nullable=True),
    _text("created_at"),
    _text("updated_at"),
    _text("detail"),
)
Index("schedules_by_workstream", schedules.c.workstream_id, schedules.c.created_at)
partial_index("schedules_due", schedules.c.next_due, where=schedules.c.state == "active")

schedule_runs = Table(
    "schedule_runs",
    metadata,
    _identity("run_id"),
    _text("schedule_id"),
    _text("workstream_id"),
    _text("kind"),
    _seconds("due_at"),
    _text("state"),
    _seconds("handed_at"),
    _seconds("began_at", nullable=True),
    _text("node"),
    _text("detail"),
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
    _identity("task_id"),
    *_texts("workstream_id", "kind", "subject", "description", "state", "reason", "command"),
    _number("exit_code", nullable=True),
    _text("node_id"),
    _seconds("seen_at", nullable=True),
    Column("stop_asked", Boolean, nullable=False),
    _text("output"),
    _number("output_bytes"),
    *_texts("created_at", "updated_at"),
)
Index("tasks_by_workstream", tasks.c.workstream_id, tasks.c.created_at)
partial_index("tasks_running", tasks.c.seen_at, where=tasks.c.state == "in_progress")
