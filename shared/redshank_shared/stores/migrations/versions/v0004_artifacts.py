"""Which workstream refers to which kept bytes."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision: str | None = "0003"

_PAGE = 500


def upgrade() -> None:
    """Add the references, those of the logs that are there among them."""
    op.create_table(
        "asset_references",
        sa.Column("workstream_id", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("workstream_id", "digest", name="asset_references_pkey"),
    )
    op.create_index("asset_references_by_digest", "asset_references", ["digest"])
    _refer()


def _refer() -> None:
    """What no log refers to is collected, so that outputs kept before must be referred to now."""
    connection = op.get_bind()
    facts = connection.execute(
        sa.text(
            "SELECT workstream_id, fact FROM events WHERE kind = 'call.finished' "
            "AND fact LIKE '%sha256:%'"
        )
    ).yield_per(_PAGE)
    found = {(workstream_id, digest) for workstream_id, fact in facts for digest in _digests(fact)}
    if found:
        connection.execute(
            sa.text("INSERT INTO asset_references (workstream_id, digest) VALUES (:ws, :digest)"),
            [{"ws": workstream_id, "digest": digest} for workstream_id, digest in sorted(found)],
        )


def _digests(text: str) -> list[str]:
    fact = json.loads(text)
    images = fact.get("images") or []
    return [digest for digest in (fact.get("asset"), *(one["digest"] for one in images)) if digest]
