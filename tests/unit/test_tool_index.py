"""Tools are found by what is said of them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redshank_shared.domain.messages import ToolDescription
from redshank_shared.domain.tool_index import ToolIndex
from redshank_shared.domain.tool_words import words

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,40}", fullmatch=True)


def tool(name: str, description: str = "", **parameters: str) -> ToolDescription:
    properties = {key: {"type": "string", "description": said} for key, said in parameters.items()}
    return ToolDescription(name, description, {"type": "object", "properties": properties})


BIRDS = ToolIndex(
    [
        tool("count_birds", "Count what is seen on a day.", place="The wetland to look at"),
        tool("ringNumber", "Look up a ring.", code="As read from the leg"),
        tool("mcp__forge__create_issue", "Open a ticket."),
        tool("mcp__forge__list_issues", "List tickets."),
        tool("stop", "End it."),
    ]
)


@pytest.mark.req("B-12")
@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("how many birds were counted", "count_birds"),
        ("wetlands", "count_birds"),
        ("ring", "ringNumber"),
        ("the legs", "ringNumber"),
        ("create issues", "mcp__forge__create_issue"),
        ("please call mcp__forge__list_issues for the birds", "mcp__forge__list_issues"),
        ("MCP__FORGE__LIST_ISSUES", "mcp__forge__list_issues"),
    ],
)
def test_a_tool_is_found_by_its_name_its_description_its_parameters(query: str, first: str) -> None:
    assert BIRDS.search(query, 5)[0] == first


@pytest.mark.req("B-12")
def test_a_common_word_that_is_a_tools_name_too_does_not_outrank_what_fits() -> None:
    assert BIRDS.search("stop the list of tickets", 1) == ("mcp__forge__list_issues",)
    assert BIRDS.search("stop", 1) == ("stop",)


@pytest.mark.req("B-12")
def test_what_nothing_fits_finds_nothing() -> None:
    assert BIRDS.search("zebra", 5) == ()
    assert BIRDS.search("", 5) == ()
    assert ToolIndex([]).search("birds", 5) == ()


@pytest.mark.req("B-12")
def test_equals_come_by_name_and_no_more_than_asked_for() -> None:
    same = [tool(f"bird_{letter}", "Look at a bird.") for letter in "dbca"]
    assert ToolIndex(same).search("bird", 3) == ("bird_a", "bird_b", "bird_c")


@pytest.mark.req("B-12")
@given(st.lists(NAMES, min_size=1, max_size=20, unique=True), st.text(max_size=60))
def test_every_tool_is_found_first_by_its_own_exact_name(names: list[str], said: str) -> None:
    index = ToolIndex([tool(name, said) for name in names])
    for name in names:
        assert index.search(name, 5)[0] == name
        assert index.search(f" {name}\n", 1) == (name,)


@pytest.mark.req("B-12")
@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("getCurrentWeather", ["current", "weath"]),
        ("HTTPServer2Status", ["http", "serv", "2", "status"]),
        ("list_pull-requests.v2", ["list", "pull", "request", "v", "2"]),
        ("the cities", ["city"]),
        ("天気予報", ["天気", "気予", "予報"]),
        ("größe", ["gröss"]),
        ("", []),
    ],
)
def test_names_and_texts_are_cut_into_comparable_words(text: str, cut: list[str]) -> None:
    assert words(text) == cut


@pytest.mark.req("B-12")
def test_the_same_word_in_another_form_is_the_same() -> None:
    assert words("calculating calculations") == words("calculate calculation")
    assert words("tickets") == words("ticket")


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"description": "the bottom"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"inner": schema}}
    return schema


@pytest.mark.fault("F8")
@pytest.mark.parametrize(
    "schema",
    [
        {"properties": "none"},
        {"properties": {"a": "none", "b": {"enum": 3, "description": ["x"]}}},
        {"items": [1, 2], "properties": {"a": {"items": "x", "properties": []}}},
        {"properties": {f"p{n}": {"description": "word " * 10_000} for n in range(2_000)}},
        nested(5_000),
    ],
)
def test_a_schema_that_makes_no_sense_harms_nothing(schema: dict[str, Any]) -> None:
    index = ToolIndex([ToolDescription("odd", "An odd bird.", schema), tool("even")])
    assert index.search("odd bird", 1) == ("odd",)
