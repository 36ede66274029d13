"""A provider that searches the web by itself: how it is asked, what its answer keeps."""

from typing import Any

import msgspec
import pytest

from redshank_node.providers.choose import make
from redshank_node.providers.provider import Answer, ModelRequest, Surface
from redshank_shared.domain.messages import ToolDescription, UserMessage
from tests.contract.provider_asking import READ_FILE, question, settings
from tests.fakes.model_server import Reply, chunk, events, model_server, named

SEARCH = ToolDescription("web_search", "Search the web.", {"type": "object", "properties": {}})
CITED = {
    "type": "web_search_result_location",
    "url": "https://birds.example/redshank",
    "title": "The  redshank",
    "encrypted_index": "Eo8",
    "cited_text": "nests in wet grassland",
}
BLOCKS = named(
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "server_tool_use", "id": "srv_1", "name": "web_search"},
    },
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "input_json_delta", "partial_json": '{"query": "redshank"}'},
    },
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {
            "type": "web_search_tool_result",
            "tool_use_id": "srv_1",
            "content": [{"type": "web_search_result", "url": CITED["url"], "title": "x"}],
        },
    },
    {"type": "content_block_start", "index": 2, "content_block": {"type": "text", "text": ""}},
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "text_delta", "text": "In wet grassland."},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "citations_delta", "citation": CITED},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "citations_delta", "citation": CITED},
    },
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn"},
        "usage": {"output_tokens": 5, "server_tool_use": {"web_search_requests": 1}},
    },
    {"type": "message_stop"},
)
ANNOTATED = {
    "annotations": [
        {"type": "url_citation", "url_citation": {"url": CITED["url"], "title": "The redshank"}},
        {"type": "url_citation", "url_citation": {"url": "javascript:alert(1)", "title": "no"}},
    ]
}
CHUNKS = events(
    chunk({"content": "In wet grassland."}), chunk(ANNOTATED), chunk({}, "stop"), "[DONE]"
)
REPLIES = {"anthropic": Reply(BLOCKS, end="keep"), "openai": Reply(CHUNKS, end="keep")}


async def searched(wire: str, own_search: str) -> tuple[dict[str, Any], Answer]:
    """The body that was sent, the answer that came."""
    request = ModelRequest(
        "ws_1", "", (UserMessage(1, "Go."),), Surface("digest-9", (READ_FILE, SEARCH)), own_search
    )
    async with model_server(REPLIES[wire]) as server:
        provider = make(settings(server, wire))
        items = [item async for item in provider.stream(request)]
        await provider.close()
        assert isinstance(items[-1], Answer)
        return server.requests[0].body, items[-1]


@pytest.mark.req("T-31")
async def test_anthropic_is_given_its_own_search_in_the_tools_place() -> None:
    body, _ = await searched("anthropic", "web_search")

    read, search = body["tools"]
    assert read["name"] == "read_file"
    assert (search["type"], search["name"]) == ("web_search_20250305", "web_search")
    assert "input_schema" not in search


@pytest.mark.req("T-31")
async def test_openai_is_given_the_option_without_the_tool() -> None:
    body, _ = await searched("openai", "web_search")

    assert body["web_search_options"] == {}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["read_file"]


@pytest.mark.req("T-31")
@pytest.mark.parametrize("wire", ["anthropic", "openai"])
async def test_unless_it_may_the_tool_is_an_ordinary_one(wire: str) -> None:
    body, _ = await searched(wire, "")

    assert "web_search_options" not in body
    assert "web_search_20250305" not in msgspec.json.encode(body).decode()
    assert len(body["tools"]) == 2


@pytest.mark.req("T-31")
@pytest.mark.parametrize("wire", ["anthropic", "openai"])
async def test_an_answer_ends_with_the_pages_it_cites_and_calls_nothing(wire: str) -> None:
    _, answer = await searched(wire, "web_search")

    assert answer.text == (
        "In wet grassland.\n\nSources:\n- The redshank: https://birds.example/redshank"
    )
    assert answer.calls == ()
    assert answer.finish == "stop"


@pytest.mark.req("T-31")
async def test_the_same_surface_is_encoded_anew_where_the_search_changes() -> None:
    async with model_server(REPLIES["anthropic"]) as server:
        provider = make(settings(server, "anthropic"))
        for own_search in ("", "read_file", ""):
            request = msgspec.structs.replace(question(), own_search=own_search)
            assert [item async for item in provider.stream(request)]
        await provider.close()
        types = [request.body["tools"][0].get("type", "") for request in server.requests]

    assert types == ["", "web_search_20250305", ""]
