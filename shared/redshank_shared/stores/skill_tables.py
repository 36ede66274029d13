"""The tables of skills: the skills themselves, which node sees which prompts."""

from sqlalchemy import Boolean, Column, Index, PrimaryKeyConstraint, Table

from redshank_shared.stores.columns import metadata, text, texts

# `server` is empty for a skill that a person wrote.
skills = Table(
    "skills",
    metadata,
    *texts("name", "origin", "server", "description", "body", "arguments"),
    Column("enabled", Boolean, nullable=False),
    *texts("created_at", "updated_at"),
    PrimaryKeyConstraint("name", "origin", "server", name="skills_pkey"),
    Index("skills_by_server", "server"),
)

# `offered`: the prompts of a server as one node sees them, JSON.
skill_offers = Table(
    "skill_offers",
    metadata,
    text("node_id"),
    *texts("server", "offered", "offered_at"),
    PrimaryKeyConstraint("node_id", "server", name="skill_offers_pkey"),
    Index("skill_offers_by_server", "server"),
)
