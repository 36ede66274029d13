"""Measures how well tools are found by words: `redshank bench tool-search`."""

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from redshank_console.cli.bench.bfcl import PACKAGE, Question, ToolSet, downloaded, read
from redshank_console.cli.output import OutputForm, say, write_facts, write_json
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.messages import ToolDescription
from redshank_shared.domain.tool_index import ToolIndex

MOST = 5
INDEXED = 1200
_ROUNDS = 7


class Hits(msgspec.Struct, frozen=True):
    """How many of so many questions found a right tool first, among the first five; shares of 1."""

    questions: int
    top_1: float
    top_5: float


class Measured(msgspec.Struct, frozen=True):
    """`held_out`: the half of the questions that the index's weights were chosen without.

    `index_ms`: to index the first `indexed` tools, the best of seven times. Times are of the
    processor: what else runs on the machine does not count.
    """

    tools: int
    all: Hits
    held_out: Hits
    indexed: int
    index_ms: float
    query_us: float


def tool_search(
    data: Annotated[Path | None, typer.Option(help="BFCL v4: its folder, or its wheel")] = None,
    download: Annotated[bool, typer.Option(help=f"get {PACKAGE} with pip first")] = False,
    output: Annotated[OutputForm, typer.Option("--output", "-o", help="table or json")] = "table",
) -> None:
    """Look how often a search finds the right tool of BFCL v4.

    Nothing of a cluster is needed, no model is asked.
    """
    with contextlib.ExitStack() as opened:
        if data is None and not download:
            raise Misconfigured("name the set with --data, or get it with --download", field="data")
        path = data if data is not None else opened.enter_context(downloaded())
        found = measured(read(path))
    if output == "json":
        write_json(found)
    else:
        _show(found)


def measured(tools: ToolSet) -> Measured:
    """What the set's questions find among all of its tools."""
    index = ToolIndex(tools.tools)
    began = time.thread_time()
    answers = [index.search(question.text, MOST) for question in tools.questions]
    took = time.thread_time() - began
    pairs = list(zip(tools.questions, answers, strict=True))
    some = tools.tools[:INDEXED]
    return Measured(
        tools=len(tools.tools),
        all=_hits(pairs),
        held_out=_hits([each for each in pairs if each[0].held_out]),
        indexed=len(some),
        index_ms=min(_index_seconds(some) for _ in range(_ROUNDS)) * 1000,
        query_us=took / len(pairs) * 1e6,
    )


def _hits(pairs: Sequence[tuple[Question, tuple[str, ...]]]) -> Hits:
    first = sum(bool(question.right & set(answer[:1])) for question, answer in pairs)
    among = sum(bool(question.right & set(answer)) for question, answer in pairs)
    count = max(1, len(pairs))
    return Hits(len(pairs), first / count, among / count)


def _index_seconds(tools: Sequence[ToolDescription]) -> float:
    began = time.thread_time()
    ToolIndex(tools)
    return time.thread_time() - began


def _show(found: Measured) -> None:
    def said(hits: Hits) -> str:
        return f"top-1 {hits.top_1:.1%}, top-5 {hits.top_5:.1%} of {hits.questions} questions"

    write_facts(
        [
            ("tools", f"{found.tools}"),
            ("all", said(found.all)),
            ("held out", said(found.held_out)),
            ("index", f"{found.index_ms:.0f} ms of the processor for {found.indexed} tools"),
            ("query", f"{found.query_us:.0f} µs of the processor"),
        ]
    )
    say("held out: the half of the questions that the index's weights were chosen without")
