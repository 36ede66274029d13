"""Measures how late watches are polled: `redshank bench watches`."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec
import typer

from redshank_console.cli.output import say, write_facts, write_json
from redshank_console.cli.session import Session
from redshank_shared.client.views import NewSchedule, NewWorkstream, RunView

WATCHES_EACH = 5
EVERY_SECONDS = 10


class Lateness(msgspec.Struct, frozen=True):
    """Milliseconds between a poll's due time and its begin, by the database's clock."""

    watches: int
    polls: int
    skipped: int
    p50_ms: float
    p99_ms: float
    most_ms: float


def watches(
    session: Session,
    count: Annotated[int, typer.Option(min=1, max=5000, help="watches at once")] = 200,
    seconds: Annotated[int, typer.Option(min=15, help="how long they poll")] = 45,
) -> None:
    """Let many watches poll for a while. Says how late their polls began."""
    client = session.client
    streams = [
        client.create(NewWorkstream(name=f"bench watches {number}"))
        for number in range(-(-count // WATCHES_EACH))
    ]
    try:
        made = []
        for number in range(count):
            begin = time.monotonic()
            stream = streams[number // WATCHES_EACH]
            made.append(client.create_schedule(_watch(stream.id, number)))
            # Watches that people made come due at any time, not all in one moment.
            time.sleep(max(0.0, EVERY_SECONDS / count - (time.monotonic() - begin)))
        say(f"{count} watches poll every {EVERY_SECONDS} s; measured for {seconds} s")
        time.sleep(seconds)
        runs = [run for each in made for run in client.schedule(each.id).last_runs]
    finally:
        for stream in streams:
            client.act(stream.id, "close")
    found = lateness(count, runs)
    if session.wants_json:
        write_json(found)
        return
    write_facts(
        [
            ("watches", f"{found.watches}"),
            ("polls", f"{found.polls}, {found.skipped} skipped"),
            ("late p50", f"{found.p50_ms:.0f} ms"),
            ("late p99", f"{found.p99_ms:.0f} ms"),
            ("late most", f"{found.most_ms:.0f} ms"),
        ]
    )


def lateness(count: int, runs: Sequence[RunView]) -> Lateness:
    """What these runs say; zeros where none has begun."""
    late = sorted(
        (_seconds(run.began_at) - _seconds(run.due_at)) * 1000
        for run in runs
        if run.began_at is not None and run.state != "skipped"
    ) or [0.0]
    return Lateness(
        watches=count,
        polls=sum(run.began_at is not None for run in runs),
        skipped=sum(run.state == "skipped" for run in runs),
        p50_ms=late[len(late) // 2],
        p99_ms=late[min(len(late) - 1, len(late) * 99 // 100)],
        most_ms=late[-1],
    )


def _watch(workstream: str, number: int) -> NewSchedule:
    return NewSchedule(
        workstream=workstream,
        name=f"bench {number}",
        watch={"command": "true", "poll_every": EVERY_SECONDS, "stop_on": "exit_code != 0"},
    )


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()
