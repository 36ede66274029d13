"""Decisions: rules, limits, questions, the ledger, assets, users, secrets."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision: str | None = "0002"


def upgrade() -> None:
    """Add what decisions need."""
    _questions()
    _policy()
    _records()
    _access()
    _tokens()
    empty = sa.text("''")
    op.add_column("services", sa.Column("surface", sa.Text, nullable=False, server_default=empty))


def _texts(*names: str) -> Sequence["sa.Column[str]"]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


def _maybe_texts(*names: str) -> Sequence["sa.Column[str]"]:
    return [sa.Column(name, sa.Text, nullable=True) for name in names]


def _number(name: str) -> "sa.Column[int]":
    return sa.Column(name, sa.BigInteger, nullable=False)


def _identity(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, primary_key=True, nullable=False)


def _pending(name: str, table: str, *columns: str) -> None:
    waits = sa.text("state = 'pending'")
    op.create_index(name, table, list(columns), sqlite_where=waits, postgresql_where=waits)


def _questions() -> None:
    op.add_column("approvals", sa.Column("expires_at", sa.Double, nullable=True))
    _pending("approvals_expiring", "approvals", "expires_at")
    op.create_table(
        "questions",
        _identity("request_id"),
        *_texts("workstream_id", "kind", "state", "asked_at", "request"),
        sa.Column("expires_at", sa.Double, nullable=True),
        *_maybe_texts("answered_at", "answered_by", "answers"),
    )
    op.create_index("questions_by_workstream", "questions", ["workstream_id", "asked_at"])
    _pending("questions_pending", "questions", "asked_at", "request_id")
    _pending("questions_expiring", "questions", "expires_at")


def _policy() -> None:
    op.create_table(
        "permission_rules",
        _identity("rule_id"),
        *_texts("scope", "subject", "pattern", "decision"),
        sa.Column("locked", sa.Boolean, nullable=False),
        *_texts("origin"),
        _number("position"),
        *_texts("note", "created_by", "created_at"),
        sa.UniqueConstraint("scope", "subject", "pattern", name="permission_rules_once"),
    )
    op.create_table("policy_revisions", _identity("name"), _number("revision"))
    op.create_table(
        "tool_limits",
        sa.Column("revision", sa.BigInteger, primary_key=True, autoincrement=False, nullable=False),
        *_texts("limits", "set_by", "set_at"),
    )


def _records() -> None:
    op.create_table(
        "ledger",
        *_texts("workstream_id"),
        _number("position"),
        *_texts("call_id", "record", "record_hash", "key_id", "signature"),
        sa.PrimaryKeyConstraint("workstream_id", "position", name="ledger_pkey"),
    )
    op.create_table("ledger_keys", _identity("key_id"), *_texts("public_key", "created_at"))
    op.create_table(
        "assets",
        _identity("digest"),
        *_texts("media_type"),
        _number("size"),
        *_texts("created_at"),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "hook_dead_letters",
        _identity("dead_letter_id"),
        *_texts("at", "hook", "workstream_id", "call_id"),
        _number("attempts"),
        *_texts("detail", "payload"),
    )
    op.create_index("hook_dead_letters_by_age", "hook_dead_letters", ["at"])


def _access() -> None:
    op.create_table(
        "users",
        _identity("name"),
        *_texts("role", "state", "created_by", "created_at", "updated_at"),
    )
    op.create_table(
        "admin_audits", _identity("audit_id"), *_texts("at", "who", "act", "target", "detail")
    )
    op.create_index("admin_audits_by_age", "admin_audits", ["at", "audit_id"])
    op.create_table(
        "secrets",
        _identity("slot"),
        *_texts("state"),
        _number("version"),
        *_texts("key_id", "sealed", "updated_by", "updated_at"),
    )
    op.create_table(
        "watch_tokens",
        _identity("token_hash"),
        *_texts("schedule_id", "workstream_id", "created_at"),
        sa.Column("window_at", sa.Double, nullable=False),
        _number("pushes"),
        sa.UniqueConstraint("schedule_id", name="watch_tokens_once"),
    )
    op.create_table(
        "watch_pushes",
        _identity("run_id"),
        *_texts("schedule_id", "workstream_id"),
        sa.Column("pushed_at", sa.Double, nullable=False),
        *_texts("output"),
    )
    op.create_index("watch_pushes_by_schedule", "watch_pushes", ["schedule_id", "pushed_at"])


def _tokens() -> None:
    all_scopes = '["read","operate","approve","admin"]'
    before_by_name = {"token_id": "", "scopes": all_scopes, "label": "", "created_by": ""}
    for name, before in before_by_name.items():
        op.add_column(
            "tokens",
            sa.Column(name, sa.Text, nullable=False, server_default=sa.text(f"'{before}'")),
        )
    op.create_index("tokens_by_name", "tokens", ["name", "created_at"])
