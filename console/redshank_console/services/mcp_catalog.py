"""Answers which MCP servers Redshank knows how to start, which profiles choose among them."""

from collections.abc import Iterable
from typing import TypeVar

from redshank_shared.domain.errors import NotFound
from redshank_shared.settings.mcp_catalog import catalog
from redshank_shared.settings.mcp_sources import from_toml
from redshank_shared.settings.reading import nearest
from redshank_shared.stores.paging import checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.wire.mcp_views import McpCatalogEntryView, McpProfileView
from redshank_shared.wire.views import PageView

Shown = TypeVar("Shown", McpCatalogEntryView, McpProfileView)


def catalog_page(limit: int, cursor: str | None) -> PageView[McpCatalogEntryView]:
    """Servers by name. Invalid names limit or cursor."""
    return _page((_entry(name) for name in sorted(catalog().servers)), limit, cursor)


def catalog_entry(name: str) -> McpCatalogEntryView:
    """The server of this name; NotFound names the nearest one."""
    if name not in catalog().servers:
        raise NotFound(
            f"the catalog has no MCP server {name[:100]}{nearest(name, catalog().servers)}",
            code="mcp_catalog_not_found",
            field="name",
        )
    return _entry(name)


def profile_page(limit: int, cursor: str | None) -> PageView[McpProfileView]:
    """Profiles by name. Invalid names limit or cursor."""
    return _page((_profile(name) for name in sorted(catalog().profiles)), limit, cursor)


def profile_entry(name: str) -> McpProfileView:
    """The profile of this name; NotFound names the nearest one."""
    if name not in catalog().profiles:
        raise NotFound(
            f"there is no MCP profile {name[:100]}{nearest(name, catalog().profiles)}",
            code="mcp_profile_not_found",
            field="name",
        )
    return _profile(name)


def _entry(name: str) -> McpCatalogEntryView:
    known = catalog().servers[name]
    server = from_toml({name: known.record}, "the catalog")[0]
    return McpCatalogEntryView(
        name=name,
        title=known.title,
        description=known.description,
        made_by=known.made_by,
        transport=server.transport,
        slots=list(server.slots()),
        record=known.record,
    )


def _profile(name: str) -> McpProfileView:
    known = catalog().profiles[name]
    return McpProfileView(name=name, description=known.description, servers=list(known.servers))


def _page(views: Iterable[Shown], limit: int, cursor: str | None) -> PageView[Shown]:
    after = decode_cursor(cursor, str) if cursor else ""
    known = list(views)
    shown, more = cut([view for view in known if view.name > after], checked_limit(limit))
    return PageView(
        items=shown,
        next_cursor=encode_cursor(shown[-1].name) if more else None,
        total=len(known),
    )
