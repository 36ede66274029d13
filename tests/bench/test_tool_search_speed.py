"""What thousands of tools cost: to index, to search, to show with each question."""

import asyncio
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, thread_time

import msgspec
import pytest

from redshank_node.engine.surface import Surfaces
from redshank_node.providers.anthropic import Anthropic
from redshank_node.providers.provider import ModelRequest, ModelSettings, Surface
from redshank_node.tools.builtin import tool_search
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_node.tools.toolbox import Manner, Toolbox
from redshank_shared.domain.delegation import UNBOUNDED
from redshank_shared.domain.events import Preview
from redshank_shared.domain.messages import ToolDescription, UserMessage
from redshank_shared.domain.tool_deferral import ToolSearch
from redshank_shared.domain.tool_index import ToolIndex
from tests.bench.figures import figure

TOOLS = 1200
INDEX_MILLISECONDS = 100
ROUNDS = 7
VERBS = ("create", "list", "close", "merge", "measure", "translate", "forward", "archive")
NOUNS = ("ticket", "branch", "invoice", "sensor", "recording", "calendar", "parcel", "station")


def described(number: int) -> ToolDescription:
    """A tool of the size that public ones have, with words of its own."""
    verb, noun = VERBS[number % 8], NOUNS[number // 8 % 8]
    properties = {
        f"{noun}_{what}": {"type": "string", "description": f"The {what} of the {noun} to {verb}."}
        for what in ("id", "owner", "label", f"detail{number}")
    }
    said = f"{verb.title()} a {noun} of the kind {number}, as the service keeps it for its owner."
    schema = {"type": "object", "properties": properties, "required": [f"{noun}_id"]}
    return ToolDescription(f"mcp__service{number % 40}__{verb}_{noun}_{number}", said, schema)


def median_milliseconds(act: Callable[[], object], clock: Callable[[], float]) -> float:
    rounds = []
    for _ in range(ROUNDS):
        began = clock()
        act()
        rounds.append((clock() - began) * 1000)
    return statistics.median(rounds)


@pytest.mark.req("B-12")
def test_an_index_of_twelve_hundred_tools() -> None:
    tools = [described(number) for number in range(TOOLS)]
    index = ToolIndex(tools)
    made = median_milliseconds(lambda: ToolIndex(tools), thread_time)
    query = "which parcels of the station did the owner forward"
    asked = median_milliseconds(lambda: index.search(query, 5), thread_time)
    sys.stdout.write(f"\n{TOOLS} tools: indexed in {made:.0f} ms, asked in {asked:.2f} ms\n")
    figure("an index of 1,200 tools", made, INDEX_MILLISECONDS, "ms")


def tool(of: ToolDescription) -> Tool:
    async def run(_: Prepared, __: CallContext) -> Result:
        return Result("")

    def prepare(arguments: dict[str, object], _: Workspace) -> Prepared:
        return Prepared(arguments, Preview(""))

    return Tool(of.name, of.description, of.parameters, "mcp", prepare, run, "text")


@pytest.mark.req("T-60")
def test_what_a_question_costs_with_and_without_waiting_tools(tmp_path: Path) -> None:
    """Prints what is sent, how long it takes to put together, first and again."""
    tools = (tool_search.TOOL, *(tool(described(number)) for number in range(TOOLS)))
    provider = Anthropic(ModelSettings("main", "anthropic", "m", "http://127.0.0.1:9"))
    for mode in ("off", "auto"):
        search = ToolSearch("off") if mode == "off" else ToolSearch()
        surfaces = Surfaces(Toolbox(tools, manner=Manner(search=search)))

        def body(surfaces: Surfaces = surfaces) -> bytes:
            surface = surfaces.seen(UNBOUNDED, {}, native=False)
            request = ModelRequest("ws", "Be brief.", (UserMessage(1, "Go."),), surface)
            return provider._body(request)

        began = perf_counter()
        size = len(body())
        first = (perf_counter() - began) * 1000
        again = median_milliseconds(body, thread_time)
        sys.stdout.write(
            f"\nsearch {mode}: {size / 1000:.1f} kB a question, {first:.2f} ms first, "
            f"{again:.3f} ms again\n"
        )
        assert (size > 100_000) == (mode == "off")
    asyncio.run(provider.close())


def test_the_bytes_of_a_surface_are_made_once() -> None:
    """Each question with the same tools splices the same bytes, whoever asks it."""
    tools = tuple(described(number) for number in range(TOOLS))
    provider = Anthropic(ModelSettings("main", "anthropic", "m", "http://127.0.0.1:9"))
    surface = Surface("digest", tools)
    requests = [ModelRequest(f"ws_{n}", "", (UserMessage(1, "Go."),), surface) for n in range(20)]
    provider._body(requests[0])
    took = median_milliseconds(lambda: [provider._body(each) for each in requests], thread_time)
    alone = median_milliseconds(lambda: msgspec.json.encode(tools), thread_time)
    sys.stdout.write(f"\n20 questions {took:.2f} ms, encoding the tools once {alone:.2f} ms\n")
    assert provider._kept.get(("surface", "digest", ""), lambda: b"anew") != b"anew"
    asyncio.run(provider.close())
