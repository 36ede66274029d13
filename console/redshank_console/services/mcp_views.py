"""Shows MCP servers as clients see them."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from redshank_console.collector.nodes import Node
from redshank_console.services.mcp_known import KnownServer
from redshank_shared.domain.events import Decision
from redshank_shared.queue.reports import McpServerReport
from redshank_shared.stores.mcp_tools import AcceptedTool
from redshank_shared.wire.mcp_catalogue import ListedServer, ListedTool
from redshank_shared.wire.mcp_views import (
    McpArgumentView,
    McpChangeView,
    McpDroppedView,
    McpOnNodeView,
    McpPromptView,
    McpResourceView,
    McpServerDetailView,
    McpServerView,
    McpState,
    McpToolView,
    McpTotalsView,
)

# From what needs somebody most to what needs nobody.
_WORST_FIRST: tuple[McpState, ...] = (
    "failed",
    "needs_login",
    "connecting",
    "left_out",
    "disabled",
    "connected",
)
_DOWN = ("failed", "needs_login", "connecting", "left_out")


def server_view(known: KnownServer, nodes: Sequence[Node], changed: int) -> McpServerView:
    """A server with what each node says of it; `changed`: how many of its tools did."""
    on_nodes = [_on_node(node, known.name) for node in nodes]
    there = [each for each in on_nodes if each.state is not None]
    latencies = [each.latency_ms for each in there if each.latency_ms is not None]
    return McpServerView(
        name=known.name,
        origin=known.origin,
        transport="http" if known.is_remote else "stdio",
        address=known.address,
        auth=known.auth,
        enabled=known.record.get("enabled", True),
        required=known.record.get("required", False),
        added_by=known.added_by,
        added_at=known.added_at,
        state=_worst(there),
        tools=max((each.tools for each in there), default=0),
        offered=max((each.offered for each in there), default=0),
        resources=max((each.resources for each in there), default=0),
        templates=max((each.templates for each in there), default=0),
        prompts=max((each.prompts for each in there), default=0),
        changed=changed,
        calls=sum(each.calls for each in there),
        errors=sum(each.errors for each in there),
        hour_calls=sum(each.hour_calls for each in there),
        hour_errors=sum(each.hour_errors for each in there),
        latency_ms=max(latencies, default=None),
        nodes=on_nodes,
    )


def totals_view(servers: Sequence[McpServerView]) -> McpTotalsView:
    """All servers together."""
    states = [[each.state for each in server.nodes if each.state] for server in servers]
    latencies = [each.latency_ms for each in servers if each.latency_ms is not None]
    return McpTotalsView(
        servers=len(servers),
        well=sum(bool(each) and set(each) == {"connected"} for each in states),
        down=sum(any(state in _DOWN for state in each) for each in states),
        needs_login=sum("needs_login" in each for each in states),
        tools=sum(each.tools for each in servers),
        offered=sum(each.offered for each in servers),
        resources=sum(each.resources for each in servers),
        templates=sum(each.templates for each in servers),
        prompts=sum(each.prompts for each in servers),
        changed=sum(each.changed for each in servers),
        calls=sum(each.calls for each in servers),
        errors=sum(each.errors for each in servers),
        hour_calls=sum(each.hour_calls for each in servers),
        hour_errors=sum(each.hour_errors for each in servers),
        latency_ms=round(statistics.median(latencies), 3) if latencies else None,
    )


def detail_view(
    view: McpServerView,
    known: KnownServer,
    listed: Mapping[str, ListedServer],
    accepted: Iterable[AcceptedTool],
    decisions: Mapping[str, Decision],
) -> McpServerDetailView:
    """A server with what it offers; `listed`: by the names of the nodes that say so, `decisions` by
    the names that models call.
    """
    offered = list(listed.values())
    changes = {each.tool: each for each in accepted if each.changed_digest}
    fullest = max(offered, key=lambda each: len(each.tools), default=None)
    return McpServerDetailView(
        **view.model_dump(),
        record=known.record,
        protocol=fullest.protocol if fullest else "",
        title=fullest.title if fullest else "",
        instructions=fullest.instructions if fullest else "",
        tools_list=[
            _tool(tool, nodes, changes.get(tool.name), decisions.get(tool.exposed, "ask"))
            for tool, nodes in _tools(listed)
        ],
        resources_list=_resources(offered),
        prompts_list=_prompts(offered),
        dropped=_dropped(offered),
        warnings={node: list(each.warnings) for node, each in listed.items() if each.warnings},
    )


def _on_node(node: Node, name: str) -> McpOnNodeView:
    said = next((each for each in node.report.mcp_servers if each.name == name), None)
    if said is None or node.state == "lost":
        said = McpServerReport(name=name, state="disabled")
        state = None
    else:
        state = said.state
    return McpOnNodeView(
        node=node.name,
        node_id=node.id,
        node_state=node.state,
        state=state,
        **{
            field: getattr(said, field)
            for field in McpServerReport.__struct_fields__
            if field not in ("name", "state")
        },
    )


def _worst(there: Sequence[McpOnNodeView]) -> McpState | None:
    states = {each.state for each in there}
    return next((state for state in _WORST_FIRST if state in states), None)


def _tools(listed: Mapping[str, ListedServer]) -> list[tuple[ListedTool, list[str]]]:
    found: dict[str, tuple[ListedTool, list[str]]] = {}
    for node, server in listed.items():
        for tool in server.tools:
            found.setdefault(tool.name, (tool, []))[1].append(node)
    return list(found.values())


def _tool(
    tool: ListedTool, nodes: list[str], change: AcceptedTool | None, decision: Decision
) -> McpToolView:
    return McpToolView(
        name=tool.name,
        exposed=tool.exposed,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        decision="ask" if change and decision == "allow" else decision,
        changed=_change(change) if change else None,
        nodes=nodes,
    )


def _change(change: AcceptedTool) -> McpChangeView:
    return McpChangeView(
        at=change.changed_at,
        accepted_by=change.accepted_by,
        accepted_at=change.accepted_at,
        digest=change.changed_digest,
        description_before=change.description,
        description_after=change.changed_description,
        schema_before=_schema(change.input_schema),
        schema_after=_schema(change.changed_schema),
    )


def _schema(text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError:
        return {}


def _resources(offered: Iterable[ListedServer]) -> list[McpResourceView]:
    found = {each.uri: each for server in offered for each in server.resources}
    return [McpResourceView(**msgspec.structs.asdict(each)) for each in found.values()]


def _prompts(offered: Iterable[ListedServer]) -> list[McpPromptView]:
    found = {each.name: each for server in offered for each in server.prompts}
    return [
        McpPromptView(
            name=each.name,
            exposed=each.exposed,
            description=each.description,
            arguments=[
                McpArgumentView(**msgspec.structs.asdict(argument)) for argument in each.arguments
            ],
        )
        for each in found.values()
    ]


def _dropped(offered: Iterable[ListedServer]) -> list[McpDroppedView]:
    found = {each.name: each for server in offered for each in server.dropped}
    return [McpDroppedView(name=each.name, why=each.why) for each in found.values()]
