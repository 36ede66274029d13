"""The spine: workstreams, their log, approvals, audits, leases, the registry."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision: str | None = None


def upgrade() -> None:
    """Create the tables of an empty database."""
    _workstreams()
    _log()
    _approvals()
    _audits()
    _idempotency_keys()
    _processes()
    _deliveries()
    _tokens()


def _texts(*names: str) -> Sequence["sa.Column[str]"]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


def _numbers(*names: str) -> Sequence["sa.Column[int]"]:
    return [sa.Column(name, sa.BigInteger, nullable=False) for name in names]


def _seconds(name: str, nullable: bool = False) -> "sa.Column[float]":
    return sa.Column(name, sa.Double, nullable=nullable)


def _maybe_texts(*names: str) -> Sequence["sa.Column[str]"]:
    return [sa.Column(name, sa.Text, nullable=True) for name in names]


def _identity(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, primary_key=True, nullable=False)


def _partial(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)


def _workstreams() -> None:
    op.create_table(
        "workstreams",
        _identity("id"),
        *_numbers("version"),
        sa.Column("pending", sa.Boolean, nullable=False),
        _seconds("pending_since", nullable=True),
        *_texts("created_at", "updated_at", "name", "title", "search_text", "owner", "profile"),
        *_texts("persona", "mode", "model", "labels", "parent", "directed_to", "state"),
        *_texts("waiting_for", "waiting_kinds", "detail"),
        *_numbers("input_tokens", "output_tokens", "calls", "pending_approvals"),
        *_maybe_texts("lease_node", "lease_previous"),
        *_numbers("lease_epoch"),
        _seconds("lease_until", nullable=True),
        *_numbers("attempts"),
    )
    op.create_index("workstreams_by_update", "workstreams", ["updated_at", "id"])
    pending = "pending = 1" if op.get_context().dialect.name == "sqlite" else "pending"
    _partial("workstreams_pending", "workstreams", ["pending_since"], pending)
    _partial("workstreams_leased", "workstreams", ["lease_node"], "lease_node IS NOT NULL")


def _log() -> None:
    op.create_table(
        "events",
        *_texts("workstream_id"),
        *_numbers("seq"),
        *_texts("kind", "at", "fact"),
        sa.PrimaryKeyConstraint("workstream_id", "seq", name="events_pkey"),
    )


def _approvals() -> None:
    op.create_table(
        "approvals",
        _identity("request_id"),
        *_texts("workstream_id", "state", "requested_at", "request"),
        *_maybe_texts("resolved_at", "resolved_by", "scope", "reason"),
    )
    op.create_index("approvals_by_workstream", "approvals", ["workstream_id", "requested_at"])
    waiting = "state = 'pending'"
    _partial("approvals_pending", "approvals", ["requested_at", "request_id"], waiting)


def _audits() -> None:
    op.create_table(
        "permission_audits",
        *_texts("workstream_id"),
        *_numbers("seq"),
        *_texts("at", "decision", "fact"),
        sa.PrimaryKeyConstraint("workstream_id", "seq", name="permission_audits_pkey"),
    )


def _idempotency_keys() -> None:
    op.create_table(
        "idempotency_keys",
        *_texts("scope", "key", "request_digest"),
        *_numbers("status"),
        *_texts("answer"),
        _seconds("created_at"),
        sa.PrimaryKeyConstraint("scope", "key", name="idempotency_keys_pkey"),
    )
    op.create_index("idempotency_keys_by_age", "idempotency_keys", ["created_at"])


def _processes() -> None:
    op.create_table("leaders", _identity("name"), *_texts("holder"), _seconds("until"))
    op.create_table(
        "services",
        _identity("service_id"),
        *_texts("kind", "address", "version", "started_at", "report"),
        _seconds("heartbeat_at"),
    )


def _deliveries() -> None:
    op.create_table(
        "outbox",
        _identity("delivery_id"),
        *_texts("workstream_id", "kind", "payload", "created_at"),
        _seconds("due_at"),
        *_numbers("attempts"),
    )
    op.create_index("outbox_by_due", "outbox", ["due_at", "delivery_id"])


def _tokens() -> None:
    op.create_table(
        "tokens",
        _identity("token_hash"),
        *_texts("kind", "name", "role"),
        _seconds("expires_at", nullable=True),
        _seconds("created_at"),
    )
