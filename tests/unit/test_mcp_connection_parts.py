"""The pure parts of a connection: waiting, cutting lines, reading lists, choosing tools."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redshank_node.mcp_client.backoff import (
    FAILURES_TO_OPEN,
    Breaker,
    delay_seconds,
    stream_patience_seconds,
)
from redshank_node.mcp_client.choosing import chosen
from redshank_node.mcp_client.figures import Figures
from redshank_node.mcp_client.frames import MOST_VALUES, Lines, NotAMessage, messages_of
from redshank_node.mcp_client.inventory import (
    Changed,
    Inventory,
    RemotePrompt,
    RemoteResource,
    RemoteTool,
    changed,
)
from redshank_node.mcp_client.last_words import LastWords
from redshank_node.mcp_client.listing import MOST_ITEMS, MOST_PAGES, listed, tool_of
from redshank_node.mcp_client.rounds import Rounds
from redshank_node.mcp_client.traffic import Traffic
from redshank_node.mcp_client.warnings_kept import KeptWarnings
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.vault.redaction import Redactor

OBJECT = {"type": "object"}


@pytest.mark.req("T-74")
@given(st.integers(1, 1000), st.floats(0, 1, exclude_max=True))
def test_waiting_doubles_from_a_quarter_of_a_second_to_half_a_minute(
    failures: int, share: float
) -> None:
    longest = min(0.25 * 2.0 ** (min(failures, 20) - 1), 30.0)
    assert longest / 2 <= delay_seconds(failures, lambda: share) <= longest
    assert delay_seconds(1, lambda: 0.0) == 0.125


@pytest.mark.fault("F67")
def test_a_server_that_ends_each_stream_at_once_is_asked_more_and_more_rarely() -> None:
    waits = [stream_patience_seconds(ends) for ends in range(9)]
    assert waits == [0, 0, 2, 4, 8, 16, 32, 60, 60]


@pytest.mark.fault("F9")
def test_the_circuit_opens_after_five_failures_in_a_row_and_keeps_the_cause() -> None:
    breaker = Breaker()
    for number in range(FAILURES_TO_OPEN):
        assert not breaker.is_open
        breaker = breaker.failed(f"cause {number}")
    assert breaker.is_open
    assert (FAILURES_TO_OPEN, breaker.cause) == (5, "cause 4")


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b""))), st.data())
def test_lines_are_the_same_in_whatever_pieces_they_come(
    lines: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(line + b"\n" for line in lines) + b"open"
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=8).map(sorted))
    cutter, found = Lines(), []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += cutter.feed(stream[begin:end])
    assert found == lines


@pytest.mark.fault("F67")
def test_of_a_line_that_is_too_long_only_the_answered_id_is_kept() -> None:
    lines = Lines(longest=10_000)
    head = b'{"jsonrpc": "2.0", "id": 17, "result": "'
    assert list(lines.feed(head)) == []
    for _ in range(100):
        assert list(lines.feed(b"x" * 1000)) == []
    first, second = lines.feed(b'"}\nnext\n')
    assert isinstance(first, NotAMessage)
    assert (first.answers, "10000 bytes" in first.why) == (17, True)
    assert second == b"next"


@pytest.mark.fault("F67")
@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"id": 3, "result": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", "nested too deep"),
        (b'{"id": 3, "result": ' + b"[" * 50_000 + b"]" * 50_000 + b"}", "nested too deep"),
        (b'{"id": 3, "result": [' + b"1," * MOST_VALUES + b"1]}", "more than 200000 values"),
        (b'{"id": 3, "result": ', "no JSON"),
    ],
)
def test_json_that_is_too_much_names_its_limit_and_the_request(line: bytes, why: str) -> None:
    with pytest.raises(NotAMessage, match=why) as raised:
        messages_of(line)
    assert raised.value.answers == 3


@pytest.mark.fault("F67")
def test_lone_surrogates_never_get_in_and_batches_come_apart() -> None:
    (value,) = messages_of(b'{"a\\ud800": ["\\udc00b", "\\ud83d\\ude00"]}')
    assert value == {"a\ufffd": ["\ufffdb", "\U0001f600"]}
    assert messages_of(b"[1, 2]") == [1, 2]
    assert messages_of(b"  ") == []
    with pytest.raises(NotAMessage):
        messages_of(b"\xff\xfe caf\xe9")


async def pages_of(answers: list[dict[str, Any]]) -> tuple[list[str], str, int]:
    asked: list[str | None] = []

    async def page(cursor: str | None) -> dict[str, Any]:
        asked.append(cursor)
        return answers[min(len(asked), len(answers)) - 1]

    found = await listed(page, "tools", tool_of)
    return [tool.name for tool in found.items], found.stopped, len(asked)


@pytest.mark.req("T-75")
@pytest.mark.fault("F67")
async def test_paging_without_an_end_is_ended() -> None:
    one = {"tools": [{"name": "one", "inputSchema": OBJECT}]}
    names, stopped, asked = await pages_of([{**one, "nextCursor": "again"}])
    assert (names, asked) == (["one", "one"], 2)
    assert "given before" in stopped
    cursors: list[dict[str, Any]] = [{"tools": [], "nextCursor": str(n)} for n in range(2000)]
    assert (await pages_of(cursors))[2] == MOST_PAGES == 1000
    many = [{"name": f"t{n}", "inputSchema": OBJECT} for n in range(MOST_ITEMS + 5)]
    names, stopped, _ = await pages_of([{"tools": many}])
    assert (len(names), "10000" in stopped) == (10_000, True)


@pytest.mark.fault("F67")
async def test_a_server_whose_list_is_large_in_all_is_not_held_whole() -> None:
    text = "x" * 60_000
    large = [{"name": f"t{n}", "description": text, "inputSchema": OBJECT} for n in range(100)]
    asked_for_more = [{"tools": large, "nextCursor": str(n)} for n in range(10)]
    names, stopped, pages = await pages_of(asked_for_more)
    assert len(names) * len(text) <= 17 * 1024 * 1024
    assert ("bytes" in stopped, pages) == (True, 3)


@pytest.mark.fault("F8")
def test_a_name_that_another_server_has_is_dropped_with_the_reason_and_keeps_its_owner() -> None:
    taken: dict[str, str] = {}
    first, none = chosen(
        McpServer(name="a", command="x"), Inventory("a", tools=(RemoteTool("_b"),)), taken
    )
    second, refused = chosen(
        McpServer(name="a_", command="x"), Inventory("a_", tools=(RemoteTool("b"),)), taken
    )
    assert ([tool.name for tool in first.tools], none) == (["_b"], ())
    assert second.tools == ()
    (dropped,) = second.dropped
    assert "tool _b of MCP server a" in dropped.why
    assert refused[0].code == "mcp_name_collision"


@pytest.mark.fault("F8")
def test_two_tools_that_would_be_spelled_alike_are_one_and_a_reason() -> None:
    tools = (RemoteTool("do it"), RemoteTool("do_it"))
    found, refused = chosen(McpServer(name="a", command="x"), Inventory("a", tools=tools), {})
    assert [tool.name for tool in found.tools] == ["do it"]
    assert [dropped.name for dropped in found.dropped] == ["do_it"]
    assert len(refused) == 1


@pytest.mark.req("T-73")
def test_a_change_names_tools_prompts_and_resources() -> None:
    before = Inventory("a", tools=(RemoteTool("old"), RemoteTool("both")))
    after = Inventory(
        "a",
        tools=(RemoteTool("both"), RemoteTool("new")),
        resources=(RemoteResource("note:///a"),),
        prompts=(RemotePrompt("greet"),),
    )
    assert changed(before, after) == Changed(("new", "greet", "note:///a"), ("old",))


@pytest.mark.fault("F12")
def test_of_standard_error_only_whole_last_lines_are_kept() -> None:
    words = LastWords()
    words.add(b"secret-" * 5000 + b"tail\n")
    for number in range(9):
        words.add(b"line %d\n" % number)
    words.add(b"half a li")
    assert words.said() == [f"line {number}" for number in range(4, 9)]
    words.add(b"ne\n")
    assert words.said() == ["half a line"]
    words.add(b"unfinished")
    assert words.said() == []
    assert words.said(last=True) == ["unfinished"]


@pytest.mark.fault("F12")
def test_warnings_are_counted_bounded_and_redacted() -> None:
    kept = KeptWarnings(Redactor(("canary-77aa",)).of_log)
    for number in range(30):
        kept.add(f"{number} canary-77aa " + "y" * 1000)
    kept.add("same")
    kept.add("same")
    assert kept.lines()[-1] == "same (x2)"
    assert len(kept.lines()) == 20
    assert all(len(line) <= 310 for line in kept.lines())
    assert "canary" not in "".join(kept.lines())


async def test_a_round_is_waited_for_from_its_beginning_or_from_anywhere() -> None:
    rounds = Rounds()
    rounds.begin()
    async with asyncio.TaskGroup() as group:
        one = group.create_task(rounds.one())
        fresh = group.create_task(rounds.fresh())
        await asyncio.sleep(0)
        rounds.finish()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert (one.done(), fresh.done()) == (True, False)
        rounds.begin()
        rounds.finish()
    assert fresh.done()
    await rounds.first()


def test_the_latency_is_the_median_of_the_last_answers() -> None:
    figures = Figures(lambda: 0.0)
    assert figures.latency_ms is None
    for seconds in (0.001, 0.5, 0.002):
        figures.answered(seconds)
    assert figures.latency_ms == 2.0


def test_the_last_hour_is_counted_by_the_minute_and_what_is_older_falls_out() -> None:
    now = 6000.0
    figures = Figures(lambda: now)
    assert figures.last_hour() == (0, 0)
    for _ in range(3):
        figures.asked()
    figures.failed()
    now += 59 * 60
    figures.asked()
    assert figures.last_hour() == (4, 1)
    now += 60
    assert figures.last_hour() == (1, 0)
    now += 3600
    assert figures.last_hour() == (0, 0)
    assert (figures.calls, figures.errors) == (4, 1)
    for _ in range(100):
        now += 60
        figures.asked()
    assert figures.last_hour() == (60, 0)


class Heard:
    """What a connection signals, noted."""

    def __init__(self) -> None:
        self.changes = 0
        self.warnings: list[str] = []

    def list_changed(self) -> None:
        self.changes += 1

    def lost(self, cause: str) -> None:
        raise AssertionError(cause)

    def warned(self, warning: str) -> None:
        self.warnings.append(warning)


@pytest.mark.fault("F37", "F67")
async def test_only_what_was_asked_for_goes_on_and_what_is_large_is_set_aside() -> None:
    heard = Heard()
    traffic = Traffic(heard)
    traffic.sent("tools/list", 1, None)
    traffic.sent("tools/call", 2, {"name": "x"})
    traffic.sent("tools/call", 3, {"name": "x"})
    traffic.sent("notifications/cancelled", None, {"requestId": 3})
    page = {"tools": [{"name": "bad", "inputSchema": {}}], "nextCursor": "2"}
    assert traffic.answered(1, page) == {"tools": [], "nextCursor": "2"}
    assert traffic.pages == {"tools/list": page}
    structured = {"a": [1]}
    light = traffic.answered(2, {"content": [{}] * 1500, "structuredContent": structured})
    assert light is not None
    assert len(light["content"]) == 1000
    assert light["structuredContent"] != structured
    assert traffic.set_aside(light["structuredContent"]) == structured
    assert [traffic.answered(number, {}) for number in (2, 3, "1", None, True)] == [None] * 5
    assert not traffic.heard("notifications/tools/list_changed")
    assert not traffic.heard("notifications/message")
    assert traffic.heard("notifications/progress")
    assert heard.changes == 1
    assert len(heard.warnings) == 6


async def test_a_line_that_is_no_message_is_shown_without_control_characters() -> None:
    heard = Heard()
    Traffic(heard).junk("a line that is no JSON", b"\x1b[2J\xff" + b"x" * 500)
    assert heard.warnings[0].startswith("skipped a line that is no JSON: \\x1b[2J\\ufffdxxx")
    assert len(heard.warnings[0]) < 220
