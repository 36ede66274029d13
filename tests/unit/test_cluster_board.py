"""Which nodes there are, judged from two ways that may each fail."""

import msgspec
import pytest

from redshank_console.collector.board import (
    FORGOTTEN_SECONDS,
    LOST_SECONDS,
    LOST_WITHOUT_BUS_SECONDS,
    MOST_PROCESSES,
    Board,
)
from redshank_shared.queue.reports import NodeReport, Reported, encode_report
from redshank_shared.stores.services import Beat, ServiceRow

AT = "2026-11-30T08:15:00.250Z"
LATER = "2026-11-30T08:16:00.250Z"


def said(service_id: str = "marsh-1.a", started_at: str = AT, **report: object) -> Reported:
    name = service_id.partition(".")[0]
    figures = msgspec.structs.replace(NodeReport(node=name, slots=4), **report)
    return Reported(service_id, "http://127.0.0.1:8081", "0.1.0", started_at, figures)


def row_of(facts: Reported, age_seconds: float = 0.0) -> ServiceRow:
    return ServiceRow(
        facts.service_id,
        "node",
        facts.address,
        facts.version,
        facts.started_at,
        encode_report(facts.report),
        age_seconds,
    )


def beat(service_id: str = "marsh-1.a", age_seconds: float = 0.0) -> Beat:
    return Beat(service_id, "node", "0.1.0", age_seconds)


def states(board: Board, now: float) -> dict[str, str]:
    return {name: node.state for name, node in board.nodes(now).items()}


def carrying_board(until: float) -> Board:
    """A board whose bus carries from 0 to then."""
    board = Board()
    for tenth in range(int(until * 10) + 1):
        board.pulse(tenth / 10)
    return board


def test_a_node_that_spoke_is_up_at_once() -> None:
    board = Board()
    board.heard(said(), 10.0)
    assert states(board, 10.0) == {"marsh-1": "up"}


@pytest.mark.req("B-24")
def test_a_node_that_falls_silent_is_lost_within_three_seconds_while_the_bus_carries() -> None:
    board = carrying_board(7.0)
    board.heard(said(), 7.0)
    board.pulse(8.0)
    board.pulse(9.0)
    assert states(board, 7.0 + LOST_SECONDS - 0.1) == {"marsh-1": "up"}
    assert states(board, 7.0 + LOST_SECONDS + 0.1) == {"marsh-1": "lost"}
    assert LOST_SECONDS + 0.25 < 3.0


def test_while_the_bus_is_silent_a_node_is_not_lost_for_its_silence_there() -> None:
    board = Board()
    board.heard(said(), 7.0)
    assert states(board, 12.0) == {"marsh-1": "up"}
    assert states(board, 7.1 + LOST_WITHOUT_BUS_SECONDS) == {"marsh-1": "lost"}


def test_when_the_bus_is_back_the_nodes_have_time_to_be_heard() -> None:
    board = carrying_board(10.0)
    board.heard(said(), 9.9)
    board.interrupted()
    board.pulse(13.0)
    assert states(board, 13.0) == {"marsh-1": "up"}


def test_a_node_that_reaches_the_registry_alone_is_seen() -> None:
    board = carrying_board(20.0)
    assert board.listed([beat()], 19.0) == ["marsh-1.a"]
    board.described([row_of(said())], 19.0)
    assert states(board, 20.0) == {"marsh-1": "up"}
    board.pulse(21.0)
    assert board.listed([beat(age_seconds=0.5)], 21.0) == ["marsh-1.a"]
    board.pulse(22.0)
    assert states(board, 22.0) == {"marsh-1": "up"}


def test_a_node_that_reaches_the_bus_alone_is_seen() -> None:
    board = carrying_board(20.0)
    board.heard(said(), 20.0)
    assert board.listed([], 20.1) == []
    assert states(board, 20.1) == {"marsh-1": "up"}


def test_the_row_of_a_node_that_is_heard_is_not_read_again() -> None:
    board = carrying_board(20.0)
    board.heard(said(), 20.0)
    assert board.listed([beat(age_seconds=3.0)], 20.5) == []


def test_a_node_that_left_is_gone_though_its_row_is_still_there() -> None:
    board = carrying_board(20.0)
    board.heard(said(), 20.0)
    board.departed("marsh-1.a", 20.5)
    assert board.listed([beat()], 20.6) == []
    assert states(board, 20.6) == {}


def test_a_node_whose_row_has_gone_left_in_order() -> None:
    board = Board()
    board.listed([beat()], 1.0)
    board.described([row_of(said())], 1.0)
    board.listed([], 2.0)
    assert states(board, 2.0) == {}


def test_a_node_that_started_again_shows_its_youngest_process() -> None:
    board = carrying_board(20.0)
    board.heard(said("marsh-1.a", AT), 10.0)
    board.heard(said("marsh-1.b", LATER), 20.0)
    assert [node.id for node in board.nodes(20.0).values()] == ["marsh-1.b"]
    assert board.names() == {"marsh-1.a": "marsh-1", "marsh-1.b": "marsh-1"}


def test_a_node_that_drains_says_so() -> None:
    board = Board()
    board.heard(said(draining=True), 1.0)
    assert states(board, 1.0) == {"marsh-1": "draining"}


def test_a_lost_node_is_forgotten_after_an_hour() -> None:
    board = Board()
    board.heard(said(), 0.0)
    assert states(board, FORGOTTEN_SECONDS - 1) == {"marsh-1": "lost"}
    assert states(board, FORGOTTEN_SECONDS + 1) == {}
    assert board.listed([beat(age_seconds=FORGOTTEN_SECONDS + 1)], FORGOTTEN_SECONDS + 1) == []


@pytest.mark.fault("F60")
def test_there_is_no_end_of_names_and_yet_a_bound() -> None:
    board = Board()
    for number in range(MOST_PROCESSES + 50):
        board.heard(said(f"marsh-{number}.a"), number / 1000)
    assert len(board.names()) <= MOST_PROCESSES
    assert f"marsh-{MOST_PROCESSES + 49}" in board.nodes(5.0)


def test_a_row_that_cannot_be_read_is_a_node_without_figures() -> None:
    board = Board()
    row = msgspec.structs.replace(row_of(said()), report='{"slots": "many"')
    board.listed([beat()], 1.0)
    board.described([row], 1.0)
    (node,) = board.nodes(1.0).values()
    assert (node.name, node.report) == ("marsh-1.a", NodeReport())
