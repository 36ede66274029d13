"""The tables of MCP: servers added at run time, orders, accepted tools, logins that have begun."""

from sqlalchemy import Boolean, Column, Index, PrimaryKeyConstraint, Table

from redshank_shared.stores.columns import identity, metadata, number, seconds, text, texts

# One row for each server that was ever added, ordered to refresh or told to reconnect. `record`
# is empty for a server of the settings, whose row holds nothing but its orders.
mcp_servers = Table(
    "mcp_servers",
    metadata,
    identity("name"),
    *texts("record", "added_by", "added_at"),
    Column("removed", Boolean, nullable=False),
    number("revision"),
    number("refresh_serial"),
    number("reconnect_serial"),
)

# What each node process did about the last order of a server.
mcp_answers = Table(
    "mcp_answers",
    metadata,
    *texts("service_id", "name"),
    number("refresh_serial"),
    number("reconnect_serial"),
    text("answer"),
    PrimaryKeyConstraint("service_id", "name", name="mcp_answers_pkey"),
    Index("mcp_answers_by_name", "name"),
)

mcp_tools = Table(
    "mcp_tools",
    metadata,
    *texts("server", "tool", "digest", "description", "input_schema"),
    *texts("accepted_at", "accepted_by"),
    *texts("changed_digest", "changed_description", "changed_schema", "changed_at"),
    PrimaryKeyConstraint("server", "tool", name="mcp_tools_pkey"),
)

mcp_logins = Table(
    "mcp_logins",
    metadata,
    identity("state"),
    text("server"),
    text("sealed"),
    *texts("began_by", "began_at"),
    seconds("expires_at"),
)
