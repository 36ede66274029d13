"""Skills: those that people wrote, those that MCP servers offer as prompts."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision: str | None = "0006"


def upgrade() -> None:
    """Add what prompts as skills need."""
    op.create_table(
        "skills",
        *_texts("name", "origin", "server", "description", "body", "arguments"),
        sa.Column("enabled", sa.Boolean, nullable=False),
        *_texts("created_at", "updated_at"),
        sa.PrimaryKeyConstraint("name", "origin", "server", name="skills_pkey"),
    )
    op.create_index("skills_by_server", "skills", ["server"])
    op.create_table(
        "skill_offers",
        *_texts("node_id", "server", "offered", "offered_at"),
        sa.PrimaryKeyConstraint("node_id", "server", name="skill_offers_pkey"),
    )
    op.create_index("skill_offers_by_server", "skill_offers", ["server"])


def _texts(*names: str) -> Sequence["sa.Column[str]"]:
    return [sa.Column(name, sa.Text, nullable=False) for name in names]
