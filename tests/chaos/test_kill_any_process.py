"""Nodes, console, Valkey killed at random under load: nothing is lost, nothing is done twice."""

import asyncio
import random
import secrets
import time
from collections import Counter
from dataclasses import dataclass, field

import pytest

from redshank_shared.settings.environment import process_environment
from tests.fakes.cluster import Cluster
from tests.fakes.cluster_client import ClusterClient, Event, until
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import asked_commands, faults, of_kind
from tests.fakes.cluster_process import ClusterProcess
from tests.fakes.valkey import Valkey

WORKSTREAMS = 100
REST_SECONDS = 90.0
LEASE = {"REDSHANK_NODE__LEASE_SECONDS": "6"}
FILE = "lines.txt"


@dataclass
class Accepted:
    """What the cluster answered for: by workstream, its messages by number."""

    messages: dict[str, dict[int, str]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return sum(map(len, self.messages.values()))


@pytest.mark.timeout(300)
@pytest.mark.req("B-2")
@pytest.mark.fault("F25")
async def test_killing_any_process_for_a_minute_loses_nothing_and_repeats_nothing(
    new_cluster: ClusterMaker,
) -> None:
    cluster = new_cluster(nodes=3, settings=LEASE)
    await under_fire(cluster, seconds=60.0)


@pytest.mark.timeout(240)
@pytest.mark.req("B-2")
@pytest.mark.fault("F25")
async def test_killing_any_process_loses_nothing_on_postgresql_either(
    new_cluster: ClusterMaker, migrated_postgres_url: str
) -> None:
    cluster = new_cluster(migrated_postgres_url, nodes=3, settings=LEASE)
    await under_fire(cluster, seconds=20.0)


async def under_fire(cluster: Cluster, seconds: float) -> None:
    """Talk to the workstreams while everything is killed; then judge every log, every line."""
    seed = int(process_environment().get("CHAOS_SEED") or secrets.randbelow(2**32))
    print(f"\nCHAOS_SEED={seed}")  # noqa: T201 - a failure is looked into with the same seed
    chance = random.Random(seed)
    accepted = Accepted()
    end = time.monotonic() + seconds
    async with cluster.client() as person:
        async with asyncio.TaskGroup() as group:
            killing = group.create_task(kill_at_random(cluster, random.Random(seed), end))
            for number in range(WORKSTREAMS):
                own = random.Random(chance.random())
                group.create_task(talk(person, number, own, end, accepted))
        began = time.monotonic()
        views = await person.wait_until_all_rest(REST_SECONDS)
        rested = time.monotonic() - began
        logs = {view["id"]: await person.events(view["id"]) for view in views}
    outcome = Counter(view["state"] for view in views)
    found = judged(logs, accepted, Counter(cluster.lines(FILE)))
    print(  # noqa: T201 - the counts are the test's outcome
        f"killed {dict(killing.result())}; at rest after {rested:.1f} s {dict(outcome)}; {found}"
    )
    assert len(views) == WORKSTREAMS
    assert outcome == {"idle": WORKSTREAMS}

    async def nothing_is_left() -> bool | None:
        return None if cluster.tool_processes() else True

    await until(nothing_is_left, "no process of a tool is left")


async def kill_at_random(cluster: Cluster, chance: random.Random, end: float) -> Counter[str]:
    """kill -9 now this, now that, started again within two seconds; how often each was killed."""
    killed: Counter[str] = Counter()
    victims: list[ClusterProcess | Valkey] = [*cluster.processes, cluster.valkey]
    down: set[int] = set()

    async def strike(place: int) -> None:
        victim = victims[place]
        killed[getattr(victim, "name", "valkey")] += 1
        down.add(place)
        victim.kill()
        await asyncio.sleep(chance.uniform(0.0, 2.0))
        victim.start()
        down.discard(place)

    async with asyncio.TaskGroup() as group:
        while time.monotonic() < end:
            await asyncio.sleep(chance.uniform(0.5, 3.0))
            up = [place for place in range(len(victims)) if place not in down]
            group.create_task(strike(chance.choice(up)))
    for process in cluster.processes:
        process.wait_healthy()
    return killed


async def talk(
    person: ClusterClient, number: int, chance: random.Random, end: float, accepted: Accepted
) -> None:
    """One workstream: create it, then say something every few seconds, until it is answered."""
    await asyncio.sleep(chance.uniform(0.0, 5.0))
    answer = await person.insist(
        "/v1/workstreams",
        {"name": f"w{number}", "mode": "bypassPermissions"},
        key=f"create-{number}",
        seconds=60.0,
    )
    assert answer.status_code == 201, answer.text
    workstream = answer.json()["id"]
    messages = accepted.messages.setdefault(workstream, {})
    for turn in range(1000):
        text = message(f"w{number}-m{turn}", chance)
        answer = await person.insist(
            f"/v1/workstreams/{workstream}/messages",
            {"text": text},
            key=f"{number}-{turn}",
            seconds=60.0,
        )
        assert answer.status_code == 202, answer.text
        messages[answer.json()["seq"]] = text
        pause = chance.uniform(4.0, 20.0)
        if time.monotonic() + pause > end:
            return
        await asyncio.sleep(pause)


def message(prefix: str, chance: random.Random) -> str:
    """Two steps of one or two effects; each appends a line of its own, before or after a while."""
    steps, mark = [], iter("abcdef")
    for _ in range(2):
        calls = []
        for _ in range(chance.randint(1, 2)):
            append, wait = f"echo {prefix}-{next(mark)} >> {FILE}", chance.uniform(0.0, 0.6)
            parts = [append, f"sleep {wait:.2f}"]
            chance.shuffle(parts)
            calls.append("run: " + "; ".join(parts))
        steps.append("\n".join(calls))
    return "\nthen\n".join(steps)


def judged(logs: dict[str, list[Event]], accepted: Accepted, lines: Counter[str]) -> Counter[str]:
    """How often what happened; AssertionError for what must not."""
    found: Counter[str] = Counter(messages=accepted.count)
    wrong: dict[str, object] = {}
    asked_lines: set[str] = set()
    for workstream, events in logs.items():
        if fault := faults(events):
            wrong[workstream] = fault
        said = {event["seq"]: event["text"] for event in of_kind(events, "message.user")}
        if said != accepted.messages[workstream]:
            wrong[f"{workstream} messages"] = (said, accepted.messages[workstream])
        commands = asked_commands(events)
        wanted = [line for text in said.values() for line in commands_in(text)]
        if Counter(commands.values()) != Counter(wanted):
            wrong[f"{workstream} calls"] = (sorted(commands.values()), sorted(wanted))
        for event in of_kind(events, "call.finished", "call.interrupted"):
            line = line_of(commands[event["call_id"]])
            asked_lines.add(line)
            outcome = event.get("outcome", "interrupted")
            found[f"{outcome}, {lines[line]} times"] += 1
            if lines[line] > 1 or (outcome == "ok" and lines[line] == 0):
                wrong[line] = (outcome, lines[line])
            if outcome not in ("ok", "interrupted"):
                wrong[event["call_id"]] = event
    assert wrong == {}
    assert set(lines) <= asked_lines
    return found


def commands_in(text: str) -> list[str]:
    return [line.removeprefix("run: ") for line in text.splitlines() if line != "then"]


def line_of(command: str) -> str:
    return next(part.split()[1] for part in command.split("; ") if part.startswith("echo"))
