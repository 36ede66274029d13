"""A SearxNG and a reranker on loopback, as their own servers answer."""

import contextlib
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from aiohttp import web


class SearchServer:
    """`results` are what every search finds; the reranker goes by `score` of query and document, at
    first by the words that they share. `status` other than 200 is what the reranker answers with
    instead; `raw` what either answers word for word. `forbidden`: it gives no JSON, as SearxNG at
    first.
    """

    def __init__(self, results: Sequence[dict[str, Any]] = ()) -> None:
        self.results = list(results)
        self.searches: list[dict[str, str]] = []
        self.ranked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.status = 200
        self.forbidden = False
        self.raw: bytes | None = None
        self.score: Callable[[str, str], float] = _shared
        self.url = ""

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncGenerator["SearchServer"]:
        application = web.Application()
        application.router.add_get("/search", self._search)
        application.router.add_post("/rerank", self._rerank)
        runner = web.AppRunner(application)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            yield self
        finally:
            await runner.cleanup()

    async def _search(self, request: web.Request) -> web.StreamResponse:
        self.searches.append(dict(request.query))
        if self.raw is not None:
            return web.Response(body=self.raw)
        if self.forbidden:
            return web.Response(status=403)
        if request.query.get("format") != "json":
            return web.Response(text="<html>results</html>", content_type="text/html")
        return web.json_response(
            {
                "query": request.query["q"],
                "number_of_results": 0,
                "results": self.results,
                "answers": [],
                "corrections": [],
                "infoboxes": [],
                "suggestions": [],
                "unresponsive_engines": [],
            }
        )

    async def _rerank(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        self.ranked.append(asked)
        self.keys.append(request.headers.get("Authorization", ""))
        if self.status != 200:
            return web.json_response({"message": "no"}, status=self.status)
        if self.raw is not None:
            return web.Response(body=self.raw)
        scored = [
            {"index": index, "relevance_score": self.score(asked["query"], document)}
            for index, document in enumerate(asked["documents"])
        ]
        scored.sort(key=lambda each: -each["relevance_score"])
        return web.json_response({"id": "r1", "results": scored[: asked["top_n"]], "meta": {}})


def result(title: str, url: str, content: str = "", **more: Any) -> dict[str, Any]:
    """One result as SearxNG gives it."""
    engines = {"engine": "one", "engines": ["one"], "positions": [1], "category": "general"}
    return {"title": title, "url": url, "content": content, "score": 1.0, **engines, **more}


def _shared(query: str, document: str) -> float:
    words = set(re.findall(r"[a-z]{3,}", query.lower()))
    return round(
        len(words & set(re.findall(r"[a-z]{3,}", document.lower()))) / max(len(words), 1), 3
    )
