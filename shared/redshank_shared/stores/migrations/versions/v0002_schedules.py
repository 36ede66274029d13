"""Schedules: what will be due, the runs that were."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision: str | None = "0001"


def upgrade() -> None:
    """Add the tables of schedules."""
    op.create_table(
        "schedules",
        sa.Column("schedule_id", sa.Text, primary_key=True, nullable=False),
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in ("workstream_id", "name", "kind", "state", "spec", "cadence")
        ),
        sa.Column("next_due", sa.Double, nullable=True),
        sa.Column("runs", sa.BigInteger, nullable=False),
        sa.Column("last_output", sa.Text, nullable=True),
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in ("created_at", "updated_at", "detail")
        ),
    )
    op.create_index("schedules_by_workstream", "schedules", ["workstream_id", "created_at"])
    active = sa.text("state = 'active'")
    op.create_index(
        "schedules_due", "schedules", ["next_due"], sqlite_where=active, postgresql_where=active
    )
    op.create_table(
        "schedule_runs",
        sa.Column("run_id", sa.Text, primary_key=True, nullable=False),
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in ("schedule_id", "workstream_id", "kind")
        ),
        sa.Column("due_at", sa.Double, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("handed_at", sa.Double, nullable=False),
        sa.Column("began_at", sa.Double, nullable=True),
        *(sa.Column(name, sa.Text, nullable=False) for name in ("node", "detail")),
        sa.UniqueConstraint("schedule_id", "due_at", name="schedule_runs_once"),
    )
    is_open = sa.text("state IN ('handed', 'started')")
    op.create_index(
        "schedule_runs_open",
        "schedule_runs",
        ["handed_at"],
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
