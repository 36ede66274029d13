"""What nodes say of MCP servers keeps its bounds, whatever servers say."""

import pytest

from redshank_node.mcp_client.inventory import (
    Dropped,
    Inventory,
    PromptArgument,
    RemotePrompt,
    RemoteResource,
    RemoteTool,
    ServerStatus,
)
from redshank_node.mcp_client.reporting import (
    figures,
    listed,
    server_reports,
    without_secrets,
)
from redshank_shared.queue.reports import (
    MOST_REPORT_BYTES,
    McpServerReport,
    NodeReport,
    decode_report,
    encode_report,
)
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.vault.redaction import Redactor
from redshank_shared.wire.mcp_catalogue import (
    MOST_BYTES,
    ListedResource,
    ListedServer,
    ListedTool,
    decode_catalogue,
    encode_catalogue,
)

SINCE = "2026-11-30T08:15:00.250Z"


def status(name: str, state: str = "connected", **more: int) -> ServerStatus:
    return ServerStatus(name, state, "http", SINCE, **more)  # type: ignore[arg-type] # by name


def server(tools: int, said: str = "", name: str = "wiki") -> ListedServer:
    schema = {"type": "object", "properties": {"word": {"type": "string", "description": said}}}
    return ListedServer(
        name,
        "added",
        {"url": "https://wiki.example/mcp"},
        tools=tuple(
            ListedTool(f"tool_{number}", f"mcp__{name}__tool_{number}", "", said, schema)
            for number in range(tools)
        ),
    )


@pytest.mark.req("T-78")
def test_only_connected_servers_are_counted() -> None:
    counted = figures(
        [
            status("a", tools=3, resources=2, prompts=1),
            status("b", tools=4, resources=1, prompts=0),
            status("c", "failed", tools=9, resources=9, prompts=9),
        ]
    )
    assert (counted.servers, counted.tools, counted.resources, counted.prompts) == (2, 7, 3, 1)


@pytest.mark.req("B-26")
def test_a_report_tells_tools_that_are_not_enabled_from_those_that_are() -> None:
    found = Inventory("a", dropped=(Dropped("long", "its name"),), not_enabled=5)
    (line,) = server_reports([status("a", tools=3)], {"a": found})
    assert (line.tools, line.offered) == (3, 9)


@pytest.mark.req("B-26", "K-62")
def test_a_catalogue_has_everything_that_a_server_offers_without_its_secrets() -> None:
    record = McpServer(
        name="wiki",
        url="https://wiki.example/mcp?key=canary-secret",
        headers={"X-Key": "canary-secret"},
    )
    found = Inventory(
        "wiki",
        protocol="2026-07-28",
        instructions="be kind",
        tools=(RemoteTool("search", "finds", {"type": "object"}, title="Search"),),
        resources=(RemoteResource("wiki://a", "A"),),
        templates=(RemoteResource("wiki://{page}", is_template=True),),
        prompts=(RemotePrompt("sum", "up", (PromptArgument("page", required=True),)),),
        dropped=(Dropped("x", "too long"),),
    )
    text = encode_catalogue((listed(record, "settings", status("wiki"), found),))

    assert "canary-secret" not in text
    (shown,) = decode_catalogue(text).servers
    assert [tool.exposed for tool in shown.tools] == ["mcp__wiki__search"]
    assert [(each.uri, each.is_template) for each in shown.resources] == [
        ("wiki://a", False),
        ("wiki://{page}", True),
    ]
    assert shown.prompts[0].arguments[0].required
    assert shown.dropped[0].why == "too long"


@pytest.mark.fault("F67")
@pytest.mark.parametrize(
    ("tools", "said"),
    [(10, "a word"), (3000, "long " * 400), (40_000, "short"), (60_000, "")],
)
def test_a_catalogue_fits_whatever_a_server_offers(tools: int, said: str) -> None:
    text = encode_catalogue((server(tools, said), server(1, name="small")))
    assert len(text) <= MOST_BYTES
    catalogue = decode_catalogue(text)
    assert [each.name for each in catalogue.servers] == ["wiki", "small"]
    assert catalogue.cut is (tools > 10)


def test_a_schema_that_is_too_deep_or_too_large_is_left_out() -> None:
    deep: dict[str, object] = {}
    for _ in range(20_000):
        deep = {"a": deep}
    wide = {"properties": {f"p{number}": {"type": "string"} for number in range(2000)}}
    tools = (ListedTool("deep", "d", "", "", deep), ListedTool("wide", "w", "", "", wide))
    text = encode_catalogue((ListedServer("wiki", "added", {}, tools=tools),))
    assert [tool.input_schema for tool in decode_catalogue(text).servers[0].tools] == [{}, {}]


@pytest.mark.fault("F-12")
def test_a_secret_that_a_server_says_of_itself_is_not_written_down() -> None:
    canary = 'canary-"secret"-4711'
    redact = Redactor([canary]).of_output
    schema = {"type": "object", "properties": {"a": {"type": "string", "default": canary}}}
    said = ListedServer(
        "wiki",
        "added",
        {"command": "x"},
        instructions=f"Use {canary}.",
        tools=(ListedTool("a", "mcp__wiki__a", canary, "x" * 2040 + canary, schema),),
        resources=(ListedResource(f"wiki://{canary}", "a"),),
    )
    clean = without_secrets(said, redact)
    assert clean.instructions == "Use ***."
    assert clean.tools[0].input_schema["properties"]["a"]["default"] == "***"
    assert clean.tools[0].description == "x" * 2040 + "***"
    assert clean.resources[0].uri == "wiki://***"
    assert (clean.record, clean.tools[0].exposed) == (said.record, "mcp__wiki__a")
    innocent = ListedServer("wiki", "added", {}, tools=(ListedTool("a", "mcp__wiki__a"),))
    assert without_secrets(innocent, redact) is innocent


def test_a_catalogue_that_cannot_be_read_is_empty() -> None:
    assert [decode_catalogue(text).servers for text in ("", "{", '{"servers": 1}')] == [(), (), ()]


@pytest.mark.req("T-78")
def test_a_report_is_carried_whatever_a_node_has() -> None:
    report = NodeReport(
        node="marsh-1",
        tools=tuple(f"mcp__server__{'tool' * 11}_{number}" for number in range(3000)),
        workstreams=tuple(f"ws_{number:022}" for number in range(900)),
        mcp_servers=tuple(
            McpServerReport(f"server-{number}", "failed", SINCE, "why " * 40)
            for number in range(300)
        ),
    )
    text = encode_report(report)
    assert len(text) < MOST_REPORT_BYTES - 1024
    told = decode_report(text)
    assert len(told.mcp_servers) == 100
    assert len(told.workstreams) == 500
    assert told.tools
