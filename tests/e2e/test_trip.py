"""A message's whole trip over HTTP: what happens, in which order, who sees it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing

import pytest

from tests.bench.figures import figure
from tests.fakes.cluster import Cluster
from tests.fakes.cluster_client import ClusterClient, Event, Frame
from tests.fakes.cluster_judging import faults, kinds, of_kind

BYPASS = "bypassPermissions"


@pytest.fixture
async def person(cluster: Cluster) -> AsyncIterator[ClusterClient]:
    async with cluster.client() as client:
        yield client


async def test_the_events_of_a_turn_come_in_the_order_of_the_contract(
    person: ClusterClient,
) -> None:
    workstream = await person.create(mode=BYPASS)
    async with asyncio.timeout(60.0), aclosing(person.stream(workstream)) as frames:
        new = [await anext(frames), await anext(frames)]
        await person.send(workstream, "run: echo hi")
        seen = new + await until_rest(frames)
    events = [frame.data for frame in seen if frame.seq is not None]
    assert [frame.kind for frame in seen if frame.seq is not None] == [
        "workstream.created",
        "state",
        "message.user",
        "state",
        "turn.started",
        "message.assistant",
        "usage",
        "call.decided",
        "call.started",
        "call.finished",
        "message.assistant",
        "usage",
        "state",
    ]
    assert faults(events) == {}
    finished = of_kind(events, "call.finished")[0]
    assert (finished["tool"], finished["is_error"], finished["output"]) == ("bash", False, "hi\n")
    assert (events[2]["text"], events[2]["source"]) == ("run: echo hi", "user")
    states = [(event["state"], event["waiting_for"]) for event in of_kind(events, "state")]
    assert states == [("idle", []), ("running", []), ("idle", [])]
    assert events == await person.events(workstream)


@pytest.mark.req("B-3")
@pytest.mark.fault("F38")
async def test_a_stream_resumed_at_every_event_gives_the_same_list(person: ClusterClient) -> None:
    workstream = await person.create("run: echo a\nread: none.txt\nthen\nrun: echo b", mode=BYPASS)
    await person.wait_for_state(workstream, "idle")
    events = await person.events(workstream)
    for after in range(len(events)):
        async with asyncio.timeout(60):
            async with aclosing(person.stream(workstream, last_event_id=after)) as frames:
                resumed = [await anext(frames) for _ in events[after:]]
        assert [frame.data for frame in resumed] == events[after:]


@pytest.mark.req("B-3")
@pytest.mark.fault("F38")
async def test_one_who_reconnects_after_every_event_of_a_running_turn_misses_none(
    person: ClusterClient,
) -> None:
    text = "run: sleep 0.4; echo a\nthen\nslow: 0.6 one two three\nrun: sleep 0.2; echo b"
    workstream = await person.create(text, mode=BYPASS)
    seen: list[Frame] = []
    async with asyncio.timeout(60.0):
        while not (seen and seen[-1].kind == "state" and seen[-1].data["state"] == "idle"):
            last = seen[-1].seq if seen else 0
            async with aclosing(person.stream(workstream, last_event_id=last)) as frames:
                async for frame in frames:
                    if frame.seq is not None:
                        seen.append(frame)
                        break
    assert [frame.data for frame in seen] == await person.events(workstream)


async def test_a_message_during_a_turn_is_taken_in_at_its_next_step(
    cluster: Cluster, person: ClusterClient
) -> None:
    workstream = await person.create(f"run: {until_told('steer')}; echo first", mode=BYPASS)
    await person.wait_for_event(workstream, "call.started")
    await person.send(workstream, "run: echo steered")
    (cluster.workspace / "steer").touch()
    await person.wait_for_state(workstream, "idle")
    events = await person.events(workstream)
    assert outputs(events) == ["first\n", "steered\n"]
    # One turn: it did not come to rest in between, and its last answer tells of both.
    assert [event["state"] for event in of_kind(events, "state")] == ["running", "idle"]
    closing = of_kind(events, "message.assistant")[-1]["text"]
    assert "first" in closing
    assert "steered" in closing
    assert faults(events) == {}


@pytest.mark.req("B-23")
async def test_a_queued_message_is_read_when_the_turn_has_ended(
    cluster: Cluster, person: ClusterClient
) -> None:
    workstream = await person.create(
        f"run: {until_told('queue')}; echo first\nthen\nrun: echo second", mode=BYPASS
    )
    await person.wait_for_event(workstream, "call.started")
    await person.send(workstream, "run: echo later", when="next")
    (cluster.workspace / "queue").touch()
    await person.wait_for_state(workstream, "idle")
    events = await person.events(workstream)
    assert outputs(events) == ["first\n", "second\n", "later\n"]
    texts = [answer["text"] for answer in of_kind(events, "message.assistant")]
    told = [text for text in texts if text]
    assert ["second" in text for text in told] == [True, False]
    assert "later" in told[1]
    assert faults(events) == {}


@pytest.mark.req("B-23")
async def test_a_stop_reaches_a_running_command_within_a_second(
    cluster: Cluster, person: ClusterClient, record_property: Callable[[str, object], None]
) -> None:
    workstream = await person.create("run: echo begun; sleep 300", mode=BYPASS)
    started = await person.wait_for_event(workstream, "call.started")
    clock = asyncio.get_running_loop()
    async with asyncio.timeout(60.0):
        async with aclosing(person.stream(workstream, after=started["seq"])) as frames:
            asked = clock.time()
            await person.order(workstream, "cancel")
            seen = await until_rest(frames)
    seconds = clock.time() - asked
    record_property("seconds until the command was stopped", round(seconds, 3))
    figure("a command is stopped", seconds, 1, "s")
    (finished,) = of_kind([frame.data for frame in seen], "call.finished")
    assert finished["outcome"] == "cancelled"
    assert seen[-1].data["state"] == "idle"
    assert cluster.tool_processes() == []
    assert faults_of_stopped(await person.events(workstream)) == {}


@pytest.mark.req("B-23")
async def test_a_stop_reaches_a_model_that_speaks(person: ClusterClient) -> None:
    workstream = await person.create(f"slow: 60 {'word ' * 200}", mode=BYPASS)
    async with asyncio.timeout(60.0), aclosing(person.stream(workstream)) as frames:
        async for frame in frames:
            if frame.kind == "delta":
                break
        await person.order(workstream, "cancel")
        seen = await until_rest(frames)
    assert "turn.cancelled" in [frame.kind for frame in seen]
    assert of_kind(await person.events(workstream), "message.assistant") == []


async def test_reads_run_unasked_and_an_effect_waits_until_it_is_allowed(
    cluster: Cluster, person: ClusterClient
) -> None:
    (cluster.workspace / "known.txt").write_text("known words\n")
    text = "read: known.txt\nthen\nwrite: made.txt new words"
    workstream = await person.create(text)
    view = await person.wait_for_state(workstream, "waiting")
    assert "known words" in outputs(await person.events(workstream))[0]
    assert [wait["kind"] for wait in view["waiting_for"]] == ["approval"]
    assert not (cluster.workspace / "made.txt").exists()
    inbox = (await person.get("/v1/approvals", limit=200)).json()["items"]
    assert workstream in [item["workstream_id"] for item in inbox]
    answer = await person.resolve(workstream, "allow")
    assert answer.json()["pending_approvals"] == []
    await person.wait_for_state(workstream, "idle")
    assert (cluster.workspace / "made.txt").read_text() == "new words"
    (cluster.workspace / "made.txt").unlink()
    events = await person.events(workstream)
    order = kinds(events)
    assert order.index("approval.requested") < order.index("approval.resolved")
    assert faults(events) == {}
    audits = (await person.get(f"/v1/workstreams/{workstream}/permission-audits")).json()["items"]
    assert [(audit["tool"], audit["decision"]) for audit in audits] == [
        ("read_file", "allow"),
        ("write_file", "ask"),
    ]


async def test_a_denial_with_words_reaches_the_agent_and_nothing_runs(
    cluster: Cluster, person: ClusterClient
) -> None:
    workstream = await person.create("run: echo forbidden > denied.txt")
    await person.wait_for_state(workstream, "waiting")
    answer = await person.resolve(workstream, "deny", reason="ask the harbour master first")
    assert answer.status_code == 200
    await person.wait_for_state(workstream, "idle")
    events = await person.events(workstream)
    (finished,) = of_kind(events, "call.finished")
    assert finished["outcome"] == "denied"
    assert "ask the harbour master first" in finished["output"]
    assert "ask the harbour master first" in of_kind(events, "message.assistant")[-1]["text"]
    assert of_kind(events, "call.started") == []
    assert not (cluster.workspace / "denied.txt").exists()


async def test_an_allowance_for_the_workstream_is_not_asked_for_again(
    person: ClusterClient,
) -> None:
    workstream = await person.create("run: echo one\nthen\nrun: echo two")
    await person.wait_for_state(workstream, "waiting")
    await person.resolve(workstream, "allow", scope="workstream")
    await person.wait_for_state(workstream, "idle")
    events = await person.events(workstream)
    assert outputs(events) == ["one\n", "two\n"]
    assert len(of_kind(events, "approval.requested")) == 1


async def test_closing_ends_what_waits_and_what_runs(
    cluster: Cluster, person: ClusterClient
) -> None:
    waits = await person.create("run: echo never > closed.txt")
    runs = await person.create("run: sleep 300", mode=BYPASS)
    await person.wait_for_state(waits, "waiting")
    await person.wait_for_event(runs, "call.started")
    for workstream in (waits, runs):
        await person.order(workstream, "close")
        view = await person.wait_for_state(workstream, "closed")
        assert view["pending_approvals"] == []
        await person.wait_for_event(workstream, "call.finished")
        assert faults_of_stopped(await person.events(workstream)) == {}
    assert not (cluster.workspace / "closed.txt").exists()
    assert cluster.tool_processes() == []


async def test_a_fork_goes_its_own_way_from_where_it_was_taken(person: ClusterClient) -> None:
    origin = await person.create("run: echo shared", mode=BYPASS)
    view = await person.wait_for_state(origin, "idle")
    await person.send(origin, "run: echo only-here")
    await person.wait_for_event(origin, "call.finished", lambda e: "only-here" in e["output"])
    fork = (await person.order(origin, "fork", after=view["last_seq"]))["id"]
    assert (await person.view(fork))["state"] == "idle"
    shared = await person.events(fork)
    assert shared[1:] == [
        # What the origin did stands in the origin's ledger.
        {**event, "at": shared[0]["at"], **({"ledger": None} if "ledger" in event else {})}
        for event in (await person.events(origin))[1 : view["last_seq"]]
    ]
    await person.send(fork, "run: echo forked")
    await person.wait_for_state(fork, "idle")
    assert outputs(await person.events(fork)) == ["shared\n", "forked\n"]


async def test_one_who_comes_late_sees_the_text_so_far_then_the_rest(
    person: ClusterClient,
) -> None:
    text = "one two three four five six seven eight"
    workstream = await person.create(f"slow: 8 {text}", mode=BYPASS)
    async with asyncio.timeout(60.0):
        async with aclosing(person.stream(workstream)) as early:
            so_far = ""
            async for frame in early:
                so_far += frame.data["text"] if frame.kind == "delta" else ""
                if "two" in so_far:
                    break
        async with aclosing(person.stream(workstream)) as late:
            seen = await until_rest(late)
    deltas = [frame.data for frame in seen if frame.kind == "delta"]
    assert deltas[0]["text"].startswith(so_far)
    assert deltas[0]["offset"] == 0
    # The last words may come only with the answer.
    assert text.startswith("".join(delta["text"] for delta in deltas))
    assert len(deltas) > 1
    (answer,) = of_kind([frame.data for frame in seen], "message.assistant")
    assert answer["text"] == text


async def test_a_call_shows_its_output_while_it_runs(
    cluster: Cluster, person: ClusterClient
) -> None:
    command = f"echo early; {until_told('late')}; echo late"
    workstream = await person.create(f"run: {command}", mode=BYPASS)
    seen = []
    async with asyncio.timeout(60.0), aclosing(person.stream(workstream)) as frames:
        async for frame in frames:
            seen.append(frame)
            if frame.kind == "delta":
                (cluster.workspace / "late").touch()
                break
        seen += await until_rest(frames)
    order = [frame.kind for frame in seen]
    pieces = [frame.data for frame in seen if frame.kind == "delta"]
    assert order.index("delta") < order.index("call.finished")
    assert (pieces[0]["channel"], pieces[0]["text"]) == ("output", "early\n")
    (finished,) = of_kind([frame.data for frame in seen], "call.finished")
    assert pieces[0]["call_id"] == finished["call_id"]
    assert finished["output"] == "early\nlate\n"


def until_told(name: str) -> str:
    """A command that goes on once there is a file of this name."""
    return f"until [ -e {name} ]; do sleep 0.05; done"


async def until_rest(frames: AsyncIterator[Frame]) -> list[Frame]:
    """What comes up to and with the state in which the turn has ended."""
    seen = []
    async for frame in frames:
        seen.append(frame)
        if frame.kind == "state" and frame.data["state"] != "running":
            break
    return seen


def outputs(events: list[Event]) -> list[str]:
    """What each call gave, in order."""
    return [event["output"] for event in of_kind(events, "call.finished")]


def faults_of_stopped(events: list[Event]) -> dict[str, object]:
    """As `faults`; that a person's stop leaves words unanswered is none."""
    return {name: fault for name, fault in faults(events).items() if name != "unanswered"}
