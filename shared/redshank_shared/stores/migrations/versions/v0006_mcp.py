"""MCP: servers added at run time, accepted tools, logins, what each node's servers offer."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision: str | None = "0005"


def upgrade() -> None:
    """Add what MCP needs across the cluster."""
    op.create_table(
        "mcp_servers",
        sa.Column("name", sa.Text, primary_key=True, nullable=False),
        *_texts("record", "added_by", "added_at"),
        sa.Column("removed", sa.Boolean, nullable=False),
        *_numbers("revision", "refresh_serial", "reconnect_serial"),
    )
    op.create_table(
        "mcp_answers",
        *_texts("service_id", "name"),
        *_numbers("refresh_serial", "reconnect_serial"),
        *_texts("answer"),
        sa.PrimaryKeyConstraint("service_id", "name", name="mcp_answers_pkey"),
    )
    op.create_index("mcp_answers_by_name", "mcp_answers", ["name"])
    op.create_table(
        "mcp_tools",
        *_texts("server", "tool", "digest", "description", "input_schema"),
        *_texts("accepted_at", "accepted_by"),
        *_texts("changed_digest", "changed_description", "changed_schema", "changed_at"),
        sa.PrimaryKeyConstraint("server", "tool", name="mcp_tools_pkey"),
    )
    op.create_table(
        "mcp_logins",
        sa.Column("state", sa.Text, primary_key=True, nullable=False),
        *_texts("server", "sealed", "began_by", "began_at"),
        sa.Column("expires_at", sa.Double, nullable=False),
    )
    empty = sa.text("''")
    op.add_column("services", sa.Column("mcp", sa.Text, nullable=False, server_default=empty))


def _texts(*names: str) -> Sequence["sa.Column[str]"]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]


def _numbers(*names: str) -> Sequence["sa.Column[int]"]:
    return [sa.Column(name, sa.BigInteger, nullable=False) for name in names]
