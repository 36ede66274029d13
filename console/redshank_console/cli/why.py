"""Tells why a call was decided as it was: `redshank ws why`."""

from typing import Annotated

import typer

from redshank_console.cli import finding
from redshank_console.cli.output import say, write_facts, write_json
from redshank_console.cli.session import Session
from redshank_shared.client.console import Query
from redshank_shared.client.permissions import CallDecisionView, PermissionsClient
from redshank_shared.client.views import Page
from redshank_shared.domain.errors import NotFound

PAGE = 200
_WORDS = {"allow": "allowed it", "deny": "denied it", "cancelled": "cancelled it"}
_SCOPES = {"once": "", "workstream": " for this workstream", "always": " always"}


def why(
    session: Session,
    call: Annotated[
        str,
        typer.Argument(
            metavar="CALL",
            help="a call's id, or its beginning; with --workstream a tool's name too",
        ),
    ],
    workstream: Annotated[str, typer.Option(help="the one that made it, by id or name")] = "",
) -> None:
    """Say which rule, scope, mode, hook, person decided on a call."""
    found = _found(session, call, workstream)
    if session.wants_json:
        write_json(found)
        return
    for number, view in enumerate(found):
        if number:
            say("")
        _tell(view)


def _found(session: Session, call: str, workstream: str) -> list[CallDecisionView]:
    client = PermissionsClient(session.client)
    whose = finding.workstream_id(session.client, workstream) if workstream else ""

    def asked(query: Query) -> Page[CallDecisionView]:
        return client.decisions_of(whose, query) if whose else client.decisions(call, query)

    page = asked({"limit": PAGE})
    found = list(page.items)
    while page.next_cursor:
        page = asked({"limit": PAGE, "cursor": page.next_cursor})
        found += page.items
    if whose:
        found = [view for view in found if view.call_id.startswith(call) or view.tool == call]
    if not found:
        raise NotFound(
            f"nothing was decided on a call {call}: its id stands in `redshank ws tail`; a call "
            f"to an unknown tool or with bad arguments never reaches a rule"
        )
    return found


def _tell(view: CallDecisionView) -> None:
    changed = f", {view.mode_effect}" if view.mode_effect else ""
    write_facts(
        (
            ("call", view.call_id),
            ("workstream", view.workstream or ""),
            ("at", view.at),
            ("tool", _tool(view)),
            ("decision", view.decision),
            ("why", view.why),
            ("rule", f"{view.pattern} {view.base_decision}" if view.pattern else "none"),
            ("scope", view.scope),
            ("origin", view.origin),
            ("mode", f"{view.effective_mode}{changed}"),
            ("hook", _hook(view)),
            ("person", _person(view)),
            ("reason", view.reason or ""),
            ("justification", view.justification or ""),
            ("approval", view.approval_request_id or ""),
            ("input", view.input_digest),
        )
    )


def _tool(view: CallDecisionView) -> str:
    return view.tool if view.tool == view.canonical else f"{view.tool} ({view.canonical})"


def _hook(view: CallDecisionView) -> str:
    if not view.hook:
        return "none settled it"
    return f"{view.hook}: {view.hook_reason}" if view.hook_reason else view.hook


def _person(view: CallDecisionView) -> str:
    if view.approval_request_id is None:
        return "nobody was asked"
    if view.resolution is None:
        return "asked, has not answered"
    scope = _SCOPES.get(view.resolution_scope or "once", "")
    said = _WORDS.get(view.resolution, view.resolution)
    return f"{view.resolved_by} {said}{scope} at {view.resolved_at}"
