"""The commands on the catalog of MCP servers, its profiles, the slots that servers name."""

from pathlib import Path
from typing import Annotated

import typer

from redshank_console.cli.output import write_facts, write_json, write_table
from redshank_console.cli.secrets import set_ as set_secret
from redshank_console.cli.session import Session, with_session
from redshank_shared.client.mcp import McpClient
from redshank_shared.domain.errors import Invalid

PAGE = 200

catalog = typer.Typer(no_args_is_help=True, help="Servers that Redshank knows how to start.")
profiles = typer.Typer(no_args_is_help=True, help="Sets of servers of the catalog.")
auth = typer.Typer(no_args_is_help=True, help="The secrets that servers need.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="as the list has it")]


def list_catalog(session: Session) -> None:
    """List the catalog by name."""
    page = McpClient(session.client).catalog({"limit": PAGE})
    if session.wants_json:
        write_json(page.items)
        return
    rows = [
        (each.name, each.transport, ", ".join(each.slots), each.description) for each in page.items
    ]
    write_table(("NAME", "WIRE", "SLOTS", "WHAT"), rows)


def get_entry(session: Session, name: Name) -> None:
    """Show a server of the catalog: its fields, the slots it needs."""
    entry = McpClient(session.client).catalog_entry(name)
    if session.wants_json:
        write_json(entry)
        return
    command = " ".join([entry.record.get("command", ""), *entry.record.get("args", [])]).strip()
    write_facts(
        (
            ("name", entry.name),
            ("title", entry.title),
            ("what", entry.description),
            ("made by", entry.made_by),
            ("wire", entry.transport),
            ("starts", command),
            ("address", entry.record.get("url", "")),
            ("slots", ", ".join(entry.slots)),
            ("add it", f"redshank mcp add {entry.name} --from-catalog {entry.name}"),
        )
    )


def list_profiles(session: Session) -> None:
    """List profiles by name, with their servers."""
    page = McpClient(session.client).profiles({"limit": PAGE})
    if session.wants_json:
        write_json(page.items)
        return
    rows = [(each.name, ", ".join(each.servers), each.description) for each in page.items]
    write_table(("NAME", "SERVERS", "WHAT"), rows)


def get_profile(session: Session, name: Name) -> None:
    """Show a profile with its servers."""
    profile = McpClient(session.client).profile(name)
    if session.wants_json:
        write_json(profile)
        return
    write_facts(
        (
            ("name", profile.name),
            ("what", profile.description),
            ("servers", ", ".join(profile.servers)),
            ("use it", f"redshank up --mcp-profile {profile.name}"),
        )
    )


def slots(session: Session) -> None:
    """List the slots that servers name, with their state. Set, missing or revoked."""
    page = McpClient(session.client).slots()
    if session.wants_json:
        write_json(page.items)
        return
    rows = [(each.slot, each.state, each.server, each.field) for each in page.items]
    write_table(("SLOT", "STATE", "SERVER", "FIELD"), rows)


def set_slot(
    session: Session,
    slot: Annotated[str, typer.Argument(metavar="SLOT", help="such as mcp.custom.acme.TOKEN")],
    file: Annotated[
        Path | None, typer.Option(help="the file that holds it; standard input without")
    ] = None,
) -> None:
    """Fill a slot of a server from standard input, a file, or a prompt."""
    if not slot.startswith("mcp."):
        raise Invalid(
            f"{slot} is no slot of an MCP server: those begin with mcp.; for others there is "
            "`redshank secrets set`",
            field="SLOT",
        )
    set_secret(session, slot, file)


catalog.command("list")(with_session(list_catalog))
catalog.command("get")(with_session(get_entry))
profiles.command("list")(with_session(list_profiles))
profiles.command("get")(with_session(get_profile))
auth.command("slots")(with_session(slots))
auth.command("set")(with_session(set_slot))
