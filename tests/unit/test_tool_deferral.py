"""Which tools wait for a search; what searches have found."""

from collections.abc import Sequence

import pytest

from redshank_console.services.forks import forked_facts
from redshank_shared.domain.commands import ShowTools
from redshank_shared.domain.decide import decide
from redshank_shared.domain.events import (
    AnyFact,
    ContextCompacted,
    StateChanged,
    WorkstreamCreated,
    decode,
    encode,
    kind_of,
)
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.plan import number
from redshank_shared.domain.tool_deferral import (
    SearchChoice,
    Sorted,
    ToolSearch,
    chosen,
    sorted_out,
)
from redshank_shared.domain.tool_events import ToolsFound
from redshank_shared.domain.workstream import Workstream, fold

OWN = [f"own_{n}" for n in range(18)]
AT = "2026-11-30T12:00:00.000Z"


def out(search: ToolSearch, remote: Sequence[str], own: Sequence[str] = OWN) -> Sorted:
    names = [*own, "tool_search", *remote]
    return sorted_out(search, names, remote, "tool_search")


@pytest.mark.req("T-60")
def test_twenty_tools_in_all_are_shown_one_more_lets_those_of_servers_wait() -> None:
    assert out(ToolSearch(), ["a", "b"]) == Sorted((*OWN, "a", "b"))
    assert out(ToolSearch(), ["a", "b", "c"]) == Sorted(
        (*OWN, "tool_search"), ("a", "b", "c"), searched=True
    )


@pytest.mark.req("T-60")
def test_on_lets_them_always_wait_off_never() -> None:
    assert out(ToolSearch("on"), ["a"]) == Sorted((*OWN, "tool_search"), ("a",), searched=True)
    assert out(ToolSearch("on"), []) == Sorted((*OWN, "tool_search"), searched=True)
    assert out(ToolSearch("off"), list("abcdef")) == Sorted((*OWN, *"abcdef"))


@pytest.mark.req("T-60")
def test_built_in_tools_stay_in_sight_however_many_there_are() -> None:
    many = [f"own_{n}" for n in range(100)]
    assert out(ToolSearch(), [], many) == Sorted(tuple(many))


@pytest.mark.req("T-63")
def test_a_set_without_the_search_is_shown_whole() -> None:
    names = [f"mcp_{n}" for n in range(50)]
    assert sorted_out(ToolSearch("on"), names, names, "") == Sorted(tuple(names))


@pytest.mark.req("T-60")
def test_a_profile_chooses_what_it_names() -> None:
    usual = ToolSearch("auto", 20, 5)
    assert chosen(usual, SearchChoice()) == usual
    assert chosen(usual, SearchChoice(search_threshold=0)) == ToolSearch("auto", 0, 5)
    assert chosen(usual, SearchChoice("off", search_max_results=9)) == ToolSearch("off", 20, 9)


def after(*facts: AnyFact) -> Workstream:
    log = number(0, AT, [WorkstreamCreated(name="t", owner="ines"), *facts])
    return fold(WorkstreamId("ws_1"), log)


@pytest.mark.req("T-62")
def test_what_is_found_is_in_the_log_in_the_order_found() -> None:
    state = after(ToolsFound(("b", "a")), ToolsFound(("c", "a")))
    assert list(state.found_tools) == ["b", "a", "c"]


@pytest.mark.req("T-62")
def test_what_a_provider_found_needs_no_blocks_of_it_behind_a_summary() -> None:
    by_provider = ToolsFound(("a", "b"), by_provider=True)
    assert after(by_provider).found_tools == {"a": True, "b": True}
    assert after(by_provider, ToolsFound(("a",))).found_tools == {"a": False, "b": True}
    assert after(ToolsFound(("a",)), by_provider).found_tools == {"a": False, "b": True}
    assert after(by_provider, ContextCompacted(2, "gist")).found_tools == {"a": False, "b": False}


@pytest.mark.req("T-62")
def test_showing_what_is_shown_already_is_no_fact() -> None:
    state = after(ToolsFound(("a",)), StateChanged("idle"))
    assert decide(state, ShowTools(("a",), "call_1"), AT) == []
    assert decide(state, ShowTools(("a", "b", "b"), "call_1"), AT) == [ToolsFound(("b",), "call_1")]


@pytest.mark.req("T-62")
def test_a_very_long_session_keeps_what_it_found_last() -> None:
    state = after(*(ToolsFound(tuple(f"t{n}_{k}" for k in range(100))) for n in range(8)))
    assert len(state.found_tools) == 500
    assert "t7_99" in state.found_tools
    assert "t2_99" not in state.found_tools


@pytest.mark.req("T-62")
def test_the_fact_reads_as_it_was_written() -> None:
    fact = ToolsFound(("mcp__forge__create_issue",), "call_1", by_provider=True)
    assert kind_of(fact) == "tools.found"
    assert decode("tools.found", encode(fact)) == fact


@pytest.mark.req("T-62")
def test_a_fork_has_found_what_its_origin_had() -> None:
    facts: list[AnyFact] = [WorkstreamCreated(name="t", owner="ines"), ToolsFound(("a",), "call_1")]
    copied = forked_facts(number(0, AT, facts), WorkstreamId("ws_1"), "bo", AT, lambda: "req_1")
    assert fold(WorkstreamId("ws_2"), number(0, AT, copied)).found_tools == {"a": False}
