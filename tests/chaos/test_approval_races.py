"""Fifty approvals, each answered by twenty people at once while nodes are killed: fifty effects."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from tests.fakes.cluster import Cluster
from tests.fakes.cluster_client import ClusterClient, Event
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import faults, of_kind

WORKSTREAMS = 50
PEOPLE = 20
REST_SECONDS = 90.0
# A thousand answers at once, on a machine that may be slow.
ANSWERED_SECONDS = 120.0
pytestmark = pytest.mark.timeout(400)


@contextlib.asynccontextmanager
async def nodes_are_killed(cluster: Cluster) -> AsyncIterator[Counter[str]]:
    """One node after the other gets kill -9 and is started anew, until the block ends; then all
    are up. How often each was killed.
    """
    kills: Counter[str] = Counter()
    enough = asyncio.Event()

    async def kill_in_turn() -> None:
        while not enough.is_set():
            for node in cluster.nodes:
                await asyncio.to_thread(node.kill)
                kills[node.name] += 1
                await asyncio.to_thread(node.start)
                await asyncio.to_thread(node.wait_healthy)

    async with asyncio.TaskGroup() as group:
        group.create_task(kill_in_turn())
        yield kills
        enough.set()


async def answered_by_all(person: ClusterClient, workstream: str, request_id: str) -> list[int]:
    """The status that each of twenty people gets who allow this at the same moment."""
    body = {"resolutions": [{"request_id": request_id, "behavior": "allow"}]}
    path = f"/v1/workstreams/{workstream}/approvals"
    answers = await asyncio.gather(
        *(
            person.insist(path, body, key=f"{request_id}-{number}", seconds=ANSWERED_SECONDS)
            for number in range(PEOPLE)
        )
    )
    told = {answer.json()["detail"] for answer in answers if answer.status_code == 409}
    assert all(words.startswith("Allowed by admin at ") for words in told)
    return sorted(answer.status_code for answer in answers)


async def waiting(person: ClusterClient, name: str) -> tuple[str, str]:
    """A workstream whose one command waits for a person; the request's id."""
    workstream = await person.create(f"run: echo {name} >> out.txt", name=name)
    view = await person.wait_for_state(workstream, "waiting", seconds=90.0)
    (approval,) = view["pending_approvals"]
    return workstream, approval["request_id"]


def results(events: list[Event]) -> list[str]:
    return [event["kind"] for event in of_kind(events, "call.finished", "call.interrupted")]


@pytest.mark.req("B-1")
@pytest.mark.fault("F-3", "F-50", "F-24")
async def test_fifty_approvals_have_fifty_effects_however_many_people_answer_and_nodes_die(
    new_cluster: ClusterMaker,
) -> None:
    cluster = new_cluster(nodes=3, consoles=2, settings={"REDSHANK_NODE__LEASE_SECONDS": "5"})
    async with cluster.client() as person:
        names = [f"w{number}" for number in range(WORKSTREAMS)]
        asked = dict(
            zip(names, await asyncio.gather(*(waiting(person, n) for n in names)), strict=True)
        )
        assert cluster.lines("out.txt") == []
        async with nodes_are_killed(cluster) as kills:
            statuses = await asyncio.gather(
                *(answered_by_all(person, *asked[name]) for name in names)
            )
        await person.wait_until_all_rest(REST_SECONDS)
        logs = {name: await person.events(asked[name][0]) for name in names}

        assert min(kills.values()) >= 1
        assert statuses == [[200] + [409] * (PEOPLE - 1)] * WORKSTREAMS
        assert {name: found for name, log in logs.items() if (found := faults(log))} == {}
        assert all(len(of_kind(log, "approval.resolved")) == 1 for log in logs.values())

        # A command whose node was killed under it is never repeated by itself: whoever finds that
        # it did not happen asks for it again.
        done = Counter(cluster.lines("out.txt"))
        assert set(done.values()) == {1}
        lost = [name for name in names if name not in done]
        assert all(results(logs[name]) == ["call.interrupted"] for name in lost)
        for name in lost:
            await person.send(asked[name][0], f"run: echo {name} >> out.txt")
            await person.wait_for_state(asked[name][0], "waiting")
            await person.resolve(asked[name][0], "allow")
        await person.wait_until_all_rest(REST_SECONDS)
    assert Counter(cluster.lines("out.txt")) == Counter(names)


@pytest.mark.req("B-1", "K-50")
@pytest.mark.fault("F-49")
async def test_what_is_answered_while_every_node_is_down_goes_on_when_one_is_back(
    new_cluster: ClusterMaker,
) -> None:
    cluster = new_cluster()
    async with cluster.client() as person:
        workstream, request_id = await waiting(person, "reeds")
        asking = await person.create(
            'call: ask_user_question {"questions": [{"question": "Which?", '
            '"options": [{"label": "ebb"}, {"label": "flood"}]}]}'
        )
        view = await person.wait_for_state(asking, "waiting")
        for node in cluster.nodes:
            node.kill()

        (question,) = view["pending_questions"]
        answer = {"question_id": question["question_id"], "option_ids": ["o2"]}
        said = await person.post(f"/v1/workstreams/{asking}/questions", {"answers": [answer]})
        assert said.status_code == 200, said.text
        assert (await person.answer(workstream, request_id, "allow")).status_code == 200
        late = await person.answer(workstream, request_id, "deny")
        assert late.json()["code"] == "approval_resolved"
        assert cluster.lines("out.txt") == []

        cluster.nodes[0].start()
        for each in (workstream, asking):
            await person.wait_for_state(each, "idle")
            assert faults(await person.events(each)) == {}
        (told,) = of_kind(await person.events(asking), "call.finished")
    assert cluster.lines("out.txt") == ["reeds"]
    assert '"label":"flood"' in told["output"]
