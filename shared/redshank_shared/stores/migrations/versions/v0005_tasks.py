"""Background tasks with what they wrote."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision: str | None = "0004"


def upgrade() -> None:
    """Add what background tasks need."""
    texts = ("workstream_id", "kind", "subject", "description", "state", "reason", "command")
    op.create_table(
        "tasks",
        sa.Column("task_id", sa.Text, primary_key=True, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in texts),
        sa.Column("exit_code", sa.BigInteger, nullable=True),
        sa.Column("node_id", sa.Text, nullable=False),
        sa.Column("seen_at", sa.Double, nullable=True),
        sa.Column("stop_asked", sa.Boolean, nullable=False),
        sa.Column("output", sa.Text, nullable=False),
        sa.Column("output_bytes", sa.BigInteger, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("updated_at", sa.Text, nullable=False),
    )
    op.create_index("tasks_by_workstream", "tasks", ["workstream_id", "created_at"])
    runs = sa.text("state = 'in_progress'")
    op.create_index("tasks_running", "tasks", ["seen_at"], sqlite_where=runs, postgresql_where=runs)
