"""The commands on nodes: `redshank nodes …`."""

import typer

from redshank_console.cli.output import say, write_json, write_table
from redshank_console.cli.session import Session, with_session
from redshank_shared.client.views import NodeView

PAGE = 200

nodes = typer.Typer(no_args_is_help=True, help="The machines that work.")


def ls(session: Session) -> None:
    """List the nodes, lost ones too."""
    page = session.client.nodes({"limit": PAGE})
    found = list(page.items)
    while page.next_cursor is not None:
        page = session.client.nodes({"limit": PAGE, "cursor": page.next_cursor})
        found += page.items
    if session.wants_json:
        write_json(found)
        return
    heads = ("NODE", "STATE", "BUSY", "LOAD", "LAG", "MEMORY", "VERSION", "HEARD")
    write_table(heads, [_row(each) for each in found])
    if not found:
        say("no node has reported: start one with `redshank node`")


nodes.command(ls.__name__)(with_session(ls))


def _row(node: NodeView) -> tuple[str, ...]:
    report = node.report
    return (
        node.name,
        node.state,
        f"{report.busy}/{report.slots}",
        f"{report.load:.2f}",
        f"{report.loop_lag_ms} ms",
        f"{report.memory_bytes / 1e6:.0f} MB",
        node.version,
        f"{node.age_seconds:.0f} s ago",
    )
