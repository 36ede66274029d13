"""The commands on MCP servers: `redshank mcp …`."""

from typing import Annotated

import typer

from redshank_console.cli.exits import FAILED
from redshank_console.cli.mcp_adding import added, given_record
from redshank_console.cli.mcp_lists import auth, catalog, profiles
from redshank_console.cli.mcp_login import login, logout, oauth, status
from redshank_console.cli.output import say, write_facts, write_json, write_table
from redshank_console.cli.session import Session, with_session
from redshank_shared.client.mcp import Detail, McpClient, Ordered, Server, Servers, Tool

PAGE = 200

mcp = typer.Typer(no_args_is_help=True, help="MCP servers: what they offer, on every node.")
mcp.add_typer(catalog, name="catalog")
mcp.add_typer(profiles, name="profiles")
mcp.add_typer(auth, name="auth")
mcp.add_typer(oauth, name="oauth")
Name = Annotated[str, typer.Argument(metavar="NAME", help="a server's name")]


def ls(session: Session) -> None:
    """List servers by name, with how they are on the nodes."""
    servers = _all(McpClient(session.client))
    if session.wants_json:
        write_json(servers)
        return
    heads = ("NAME", "STATE", "NODES", "TOOLS", "RES.", "PROMPTS", "CHANGED", "AUTH", "ADDRESS")
    write_table(heads, [_row(each) for each in servers.items])
    for server in servers.items:
        for node in server.nodes:
            if node.state not in (None, "connected", "disabled"):
                say(f"{server.name} on {node.node}: {node.state}, {node.detail}")


def show(session: Session, name: Name) -> None:
    """Show a server with what it offers. Tools, resources, prompts, what was dropped."""
    view = McpClient(session.client).server(name)
    if session.wants_json:
        write_json(view)
        return
    _show(view)


def add(  # noqa: PLR0913 - one option a field of the record
    session: Session,
    name: Name,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND ARGS…]", help="what starts it")
    ] = None,
    address: Annotated[str, typer.Option(help="its URL, in place of a command")] = "",
    from_catalog: Annotated[str, typer.Option(help="take a server of the catalog")] = "",
    env: Annotated[list[str] | None, typer.Option(help="NAME=VALUE, for no secret")] = None,
    env_slot: Annotated[list[str] | None, typer.Option(help="NAME=SLOT")] = None,
    header: Annotated[list[str] | None, typer.Option(help="NAME=VALUE, for no secret")] = None,
    header_slot: Annotated[list[str] | None, typer.Option(help="NAME=SLOT")] = None,
    bearer_slot: Annotated[str, typer.Option(help="the slot of a bearer token")] = "",
    oauth_slot: Annotated[str, typer.Option(help="the slot of an account, mcp.oauth.…")] = "",
    cwd: Annotated[str, typer.Option(help="where the command runs")] = "",
    sandbox: Annotated[str, typer.Option(help="read_only, workspace_write, …")] = "",
    enable_tool: Annotated[list[str] | None, typer.Option(help="only these tools")] = None,
    disable_tool: Annotated[list[str] | None, typer.Option(help="not these tools")] = None,
    plan_tool: Annotated[list[str] | None, typer.Option(help="usable in plan mode")] = None,
    startup_timeout: Annotated[float | None, typer.Option(help="seconds")] = None,
    tool_timeout: Annotated[float | None, typer.Option(help="seconds")] = None,
    required: Annotated[bool, typer.Option("--required", help="not without it")] = False,
    replace: Annotated[bool, typer.Option("--replace", help="in place of one added")] = False,
) -> None:
    """Add a server to every node. By --address, by a command behind --, or from the catalog."""
    client = McpClient(session.client)
    record = given_record(
        client.catalog_entry(from_catalog).record if from_catalog else {},
        {
            "url": address,
            "command": command[0] if command else "",
            "args": (command or [])[1:],
            "env": env,
            "env_secret_refs": env_slot,
            "headers": header,
            "http_header_secret_refs": header_slot,
            "bearer_token_secret_ref": bearer_slot,
            "oauth_slot_ref": oauth_slot,
            "cwd": cwd,
            "sandbox": sandbox,
            "enabled_tools": enable_tool,
            "disabled_tools": disable_tool,
            "plan_tools": plan_tool,
            "startup_timeout_sec": startup_timeout,
            "tool_timeout_sec": tool_timeout,
            "required": required,
        },
    )
    view = added(client, name, record, replace=replace)
    if session.wants_json:
        write_json(view)
    else:
        say(f"{view.name} is added: {view.address}; every node connects to it within seconds")


def rm(session: Session, name: Name) -> None:
    """Remove a server that was added, from every node."""
    view = McpClient(session.client).remove(name)
    if session.wants_json:
        write_json(view)
    else:
        say(f"{view.name} is removed")


def refresh(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="all servers without")] = "",
) -> None:
    """Ask servers anew what they offer, on every node. Exits 1 where one could not."""
    client = McpClient(session.client)
    orders = (client.order(name, "refresh"),) if name else client.refresh_all().items
    _tell(session, orders)


def reconnect(session: Session, name: Name) -> None:
    """Connect to a server anew, on every node. Exits 1 where one could not."""
    _tell(session, (McpClient(session.client).order(name, "reconnect"),))


def accept(
    session: Session,
    name: Name,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="the server's own name for it")],
    digest: Annotated[str, typer.Option(help="that of the change that `show` names")],
) -> None:
    """Accept what a tool changed to: it is allowed again where it was."""
    view = McpClient(session.client).accept(name, tool, digest)
    if session.wants_json:
        write_json(view)
    else:
        say(f"{tool} of {name} is accepted as it is now")


for command in (ls, show, add, rm, refresh, reconnect, accept, login, status, logout):
    mcp.command(command.__name__)(with_session(command))


def _all(client: McpClient) -> Servers:
    page = client.servers({"limit": PAGE})
    items, last = list(page.items), page
    while last.next_cursor:
        last = client.servers({"limit": PAGE, "cursor": last.next_cursor})
        items += last.items
    return Servers(tuple(items), None, len(items), page.totals)


def _row(each: Server) -> tuple[str, ...]:
    alive = [node for node in each.nodes if node.node_state != "lost"]
    connected = sum(node.state == "connected" for node in alive)
    tools = f"{each.tools}/{each.offered}" if each.offered > each.tools else str(each.tools)
    return (
        each.name,
        each.state or "unknown",
        f"{connected}/{len(alive)}",
        tools,
        str(each.resources + each.templates),
        str(each.prompts),
        str(each.changed or ""),
        each.auth,
        each.address,
    )


def _show(view: Detail) -> None:
    write_facts(
        (
            ("name", view.name),
            ("origin", f"added by {view.added_by}" if view.added_by else view.origin),
            ("state", view.state or "unknown"),
            ("address", view.address),
            ("auth", view.auth),
            ("protocol", view.protocol),
            ("calls", f"{view.calls}, {view.errors} failed"),
            ("last hour", f"{view.hour_calls}, {view.hour_errors} failed"),
            ("latency", f"{view.latency_ms:.0f} ms" if view.latency_ms is not None else ""),
        )
    )
    if view.nodes:
        write_table(
            ("NODE", "STATE", "SINCE", "DETAIL"),
            [(each.node, each.state or "unknown", each.since, each.detail) for each in view.nodes],
        )
    if view.tools_list:
        rows = [_tool_row(tool) for tool in view.tools_list]
        write_table(("TOOL", "DECISION", "SAYS OF ITSELF"), rows)
    if view.resources_list:
        rows = [(each.uri, each.media_type, each.name) for each in view.resources_list]
        write_table(("RESOURCE", "TYPE", "NAME"), rows)
    if view.prompts_list:
        rows = [(each.exposed, "", each.description) for each in view.prompts_list]
        write_table(("PROMPT", "", "SAYS OF ITSELF"), rows)
    for dropped in view.dropped:
        say(f"dropped: {dropped.name}: {dropped.why}")
    for tool in view.tools_list:
        if tool.changed:
            say(f"changed: {tool.name} differs from what was accepted: {tool.changed.digest}")


def _tool_row(tool: Tool) -> tuple[str, ...]:
    decision = f"{tool.decision}, changed" if tool.changed else tool.decision
    return (tool.exposed, decision, tool.description.partition("\n")[0][:80])


def _tell(session: Session, orders: tuple[Ordered, ...]) -> None:
    if session.wants_json:
        write_json(orders)
    else:
        rows = [
            (order.server, node.node, _did(node.answered, node.error), *_names(node.added, "+"))
            + _names(node.removed, "-")
            for order in orders
            for node in order.nodes
        ]
        write_table(("SERVER", "NODE", "ANSWER", "ADDED", "REMOVED"), rows)
    if any(not node.answered or node.error for order in orders for node in order.nodes):
        raise typer.Exit(FAILED)


def _did(answered: bool, error: str) -> str:
    if not answered:
        return "asked, not answered yet"
    return error or "done"


def _names(names: tuple[str, ...], sign: str) -> tuple[str]:
    return (", ".join(f"{sign}{name}" for name in names),)
