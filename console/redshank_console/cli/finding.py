"""Finds the workstream, the approval, the question or the schedule that a person named."""

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from redshank_shared.client.console import ConsoleClient, Query
from redshank_shared.client.views import (
    ApprovalView,
    Page,
    QuestionView,
    ScheduleView,
    WorkstreamView,
)
from redshank_shared.clock import monotonic
from redshank_shared.domain.errors import Conflict, Invalid, NotFound

LIST_LIMIT = 200
MOST_SCHEDULES_LOOKED_AT = 1000
SHORTEST_BEGINNING = 8
APPROVAL_PREFIX = "apr"
QUESTION_PREFIX = "qst"
REST_PAUSE_SECONDS = 0.2
LONGEST_REST_SECONDS = 30.0

Waits = TypeVar("Waits", ApprovalView, QuestionView)


def workstream_id(client: ConsoleClient, named: str) -> str:
    """The id, or the id of the one workstream of exactly this name."""
    if named.startswith("ws_"):
        return named
    page = client.workstreams({"q": named, "limit": LIST_LIMIT})
    found = [view.id for view in page.items if view.name == named]
    if not found:
        raise NotFound(f"no workstream has the id or name {named}: see `redshank ws ls`")
    if len(found) > 1:
        ids = ", ".join(found)
        raise Invalid(f"{len(found)} workstreams are called {named}: give an id, one of {ids}")
    return found[0]


def approval(client: ConsoleClient, named: str) -> tuple[str, ApprovalView]:
    """A pending approval with its workstream's id.

    Named by its id, the unique beginning of it, or the workstream that has no other; a workstream
    that still runs is given 30 seconds to come to its question.
    """
    if not named.startswith(APPROVAL_PREFIX):
        return _only_approval(_rested(client, workstream_id(client, named)))
    found = [each for each in _all(client.approvals) if each.request_id.startswith(named)]
    if not found:
        raise NotFound(
            f"no pending approval begins with {named}: see `redshank approvals ls`; "
            f"one that was answered is gone from there"
        )
    if len(found) > 1:
        raise Invalid(f"{len(found)} pending approvals begin with {named}: give more of the id")
    return found[0].workstream_id, found[0]


def oldest_approval(client: ConsoleClient) -> tuple[str, ApprovalView]:
    """The approval that waits longest, with its workstream's id."""
    page = client.approvals({"limit": 1})
    if not page.items:
        raise NotFound("no approval is pending")
    return page.items[0].workstream_id, page.items[0]


def question(client: ConsoleClient, named: str) -> tuple[str, QuestionView]:
    """A request that waits for answers, with its workstream's id; named like an approval."""
    if not named.startswith(QUESTION_PREFIX):
        return _only_question(_rested(client, workstream_id(client, named)))
    found = [each for each in _all(client.questions) if each.request_id.startswith(named)]
    if not found:
        raise NotFound(
            f"no question that waits begins with {named}: see `redshank questions ls`; "
            f"one that was answered is gone from there"
        )
    if len(found) > 1:
        raise Invalid(f"{len(found)} questions begin with {named}: give more of the id")
    return found[0].workstream_id, found[0]


def schedules(client: ConsoleClient, workstream: str = "") -> list[ScheduleView]:
    """The newest thousand schedules, of one workstream or all, the newest first."""
    query: dict[str, str | int] = {"limit": LIST_LIMIT}
    if workstream:
        query["workstream"] = workstream
    page = client.schedules(query)
    found = list(page.items)
    while page.next_cursor and len(found) < MOST_SCHEDULES_LOOKED_AT:
        page = client.schedules({**query, "cursor": page.next_cursor})
        found += page.items
    return found


def schedule_id(client: ConsoleClient, named: str) -> str:
    """The id of the one schedule of this id, this beginning of one, or exactly this name; where
    several have it, of the only one that is not over.
    """
    found = [each for each in schedules(client) if _is_called(each, named)]
    alive = [each for each in found if each.state in ("active", "paused")]
    found = alive or found
    if not found:
        raise NotFound(f"no schedule has the id or name {named}: see `redshank schedules ls`")
    if len(found) > 1:
        ids = ", ".join(each.id for each in found)
        raise Invalid(f"{len(found)} schedules are called {named}: give an id, one of {ids}")
    return found[0].id


def _all(ask: Callable[[Query], Page[Waits]]) -> Iterator[Waits]:
    """Everything that waits, however many pages it fills."""
    page = ask({"limit": LIST_LIMIT})
    yield from page.items
    while page.next_cursor:
        page = ask({"limit": LIST_LIMIT, "cursor": page.next_cursor})
        yield from page.items


def _is_called(schedule: ScheduleView, named: str) -> bool:
    if named in (schedule.id, schedule.name):
        return True
    return len(named) >= SHORTEST_BEGINNING and schedule.id.startswith(named)


def _rested(client: ConsoleClient, named: str) -> WorkstreamView:
    end = monotonic() + LONGEST_REST_SECONDS
    view = client.workstream(named)
    while view.state == "running" and not _asks(view) and monotonic() < end:
        time.sleep(REST_PAUSE_SECONDS)
        view = client.workstream(named)
    return view


def _asks(view: WorkstreamView) -> bool:
    return bool(view.pending_approvals or view.pending_questions)


def _only_question(view: WorkstreamView) -> tuple[str, QuestionView]:
    if not view.pending_questions:
        raise Conflict(f"{view.id} is {view.state}: nothing there is asked")
    if len(view.pending_questions) > 1:
        ids = ", ".join(each.request_id for each in view.pending_questions)
        raise Invalid(f"{view.id} asks {len(view.pending_questions)} times: give one of {ids}")
    return view.id, view.pending_questions[0]


def _only_approval(view: WorkstreamView) -> tuple[str, ApprovalView]:
    if not view.pending_approvals:
        raise Conflict(f"{view.id} is {view.state}: nothing there waits for your word")
    if len(view.pending_approvals) > 1:
        ids = ", ".join(each.request_id for each in view.pending_approvals)
        raise Invalid(f"{view.id} has {len(view.pending_approvals)} pending: give one of {ids}")
    return view.id, view.pending_approvals[0]
