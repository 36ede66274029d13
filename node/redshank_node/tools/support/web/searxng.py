"""Searches the web through a SearxNG of the operator's."""

from http import HTTPStatus

import msgspec

from redshank_node.tools.support.web.operators import Unanswered, asked

SECONDS = 20.0
MOST_BYTES = 4 * 1024 * 1024
_MEND = "the operator must allow JSON there, search.formats: [html, json] in its settings.yml"
CATEGORIES = ("general", "news", "it", "science")


class Found(msgspec.Struct, frozen=True):
    """One result of a search, each text a single line."""

    title: str
    url: str
    snippet: str
    published: str = ""


async def search(base_url: str, query: str, category: str) -> list[Found]:
    """What it finds on its first page, in its own order; Unanswered names what to mend (T-31)."""
    asking = {"q": query, "format": "json", "categories": category}
    url = f"{base_url.rstrip('/')}/search"
    try:
        body = await asked("GET", url, SECONDS, MOST_BYTES, query=asking)
    except Unanswered as failed:
        if failed.status == HTTPStatus.FORBIDDEN:
            raise Unanswered(f"it answers {failed.status}: {_MEND}", failed.status) from failed
        raise
    return found_in(body)


def found_in(body: bytes) -> list[Found]:
    """The results of an answer of SearxNG; those without an address, those that are made another
    way than results of pages are left out.
    """
    try:
        results = msgspec.json.decode(body, type=_Answer).results
    except msgspec.DecodeError as error:
        raise Unanswered(f"its answer is no JSON of SearxNG: {_MEND}") from error
    first: dict[str, _Result] = {}
    for each in filter(None, map(_result, results)):
        if _is_web(each.url):
            first.setdefault(each.url, each)
    return [
        Found(
            _line(each.title or each.url, 300),
            each.url,
            _line(each.content or "", 1000),
            _line(each.publishedDate or "", 40),
        )
        for each in first.values()
    ]


class _Result(msgspec.Struct, frozen=True):
    url: str = ""
    title: str | None = None
    content: str | None = None
    publishedDate: str | None = None  # noqa: N815 - SearxNG's own name


class _Answer(msgspec.Struct, frozen=True):
    results: list[msgspec.Raw]


def _result(each: msgspec.Raw) -> _Result | None:
    try:
        return msgspec.json.decode(each, type=_Result)
    except msgspec.DecodeError:
        return None


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://")) and url.isprintable() and " " not in url


def _line(text: str, most: int) -> str:
    return " ".join(text.split())[:most]
