"""What followers of the cluster are told."""

import asyncio
from typing import Any

import msgspec
import pytest

from redshank_console.collector.changes import CALM_SECONDS, Change, Shown, changes
from redshank_console.collector.follower import GAP, MOST_BYTES, Follower
from redshank_console.collector.nodes import Node, NodeState
from redshank_shared.queue.reports import McpServerReport, NodeReport

AT = "2026-11-30T08:15:00.250Z"


def node(state: NodeState = "up", node_id: str = "marsh-1.a", **report: object) -> Node:
    figures = msgspec.structs.replace(NodeReport(node="marsh-1"), **report)
    return Node(node_id, "marsh-1", state, "http://127.0.0.1:8081", "0.1.0", AT, 0.1, figures)


def told(before: Node | None, after: Node | None, seconds: float = 0.0) -> list[str]:
    shown = {"marsh-1": Shown(before, 0.0)} if before else {}
    nodes = {"marsh-1": after} if after else {}
    found, known = changes(shown, nodes, seconds)
    assert set(known) == set(nodes)
    return [change.kind for change in found]


def test_a_new_node_has_joined() -> None:
    assert told(None, node()) == ["node.joined"]


def test_a_node_that_falls_silent_is_lost_then_back() -> None:
    assert told(node(), node("lost")) == ["node.lost"]
    assert told(node("lost"), node()) == ["node.changed"]


def test_a_node_that_is_not_there_any_more_has_left() -> None:
    assert told(node(), None) == ["node.left"]


def test_a_node_that_started_again_left_before_it_joined() -> None:
    assert told(node(), node(node_id="marsh-1.b")) == ["node.left", "node.joined"]


def test_work_is_told_at_once_but_restless_figures_are_told_calmly() -> None:
    assert told(node(), node(busy=1)) == ["node.changed"]
    assert told(node(), node(load=0.7, loop_lag_ms=3, memory_bytes=9)) == []
    assert told(node(), node(load=0.7), CALM_SECONDS) == ["node.changed"]
    assert told(node(), node(), CALM_SECONDS) == []


@pytest.mark.req("B-26")
def test_the_state_of_an_mcp_server_is_told_at_once_its_figures_calmly() -> None:
    def with_server(**figures: Any) -> Node:
        return node(mcp_servers=(McpServerReport("wiki", **{"state": "connected", **figures}),))

    assert told(node(), with_server()) == ["node.changed"]
    assert told(with_server(), with_server(state="failed")) == ["node.changed"]
    assert told(with_server(), with_server(tools=3)) == ["node.changed"]
    restless = with_server(latency_ms=9.0, calls=3, errors=1, hour_calls=3, hour_errors=1)
    assert told(with_server(), restless) == []
    assert told(with_server(), restless, CALM_SECONDS) == ["node.changed"]


def test_a_change_carries_the_whole_node() -> None:
    found, _ = changes({}, {"marsh-1": node(busy=2)}, 0.0)
    assert msgspec.json.decode(found[0].data, type=Node) == node(busy=2)


@pytest.mark.fault("F60")
async def test_who_is_too_slow_finds_a_gap_in_place_of_what_was_missed() -> None:
    follower = Follower()
    large = Change("node.changed", b"x" * (MOST_BYTES // 3))
    follower.offer([large])
    assert await follower.take(1.0) == [large]
    for _ in range(5):
        follower.offer([large])
    taken = await follower.take(1.0)
    assert taken[0] == GAP
    assert len(taken) < 5
    assert await follower.take(0.01) == []


async def test_a_follower_is_woken_by_a_change() -> None:
    follower = Follower()
    change = Change("node.joined", b"{}")
    async with asyncio.TaskGroup() as group:
        taking = group.create_task(follower.take(5.0))
        await asyncio.sleep(0)
        follower.offer([change])
    assert taking.result() == [change]
