"""Approvals that wait no more, in the order in which they were decided."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision: str | None = "0007"


def upgrade() -> None:
    """Add what lists them."""
    decided = sa.text("state != 'pending'")
    op.create_index(
        "approvals_decided",
        "approvals",
        ["resolved_at", "request_id"],
        sqlite_where=decided,
        postgresql_where=decided,
    )
