"""What a reranker is asked, what it answers, in the form of Cohere, Jina."""

from collections.abc import Sequence

import msgspec

from redshank_shared.domain.errors import Unavailable

MOST_DOCUMENT_CHARACTERS = 4000
MOST_ANSWER_BYTES = 1024 * 1024


class Scored(msgspec.Struct, frozen=True):
    """How relevant the document at this place is; most endpoints score from 0 to 1."""

    index: int
    relevance_score: float


def question(model: str, instruction: str, query: str, documents: Sequence[str]) -> bytes:
    """The body of a POST: documents in their order, each cut where it gets long. An instruction
    wraps the query, for endpoints that do not apply their model's own template (T-32).
    """
    wrapped = f"<Instruct>: {instruction}\n<Query>: {query}" if instruction else query
    asked: dict[str, object] = {
        "query": wrapped,
        "documents": [text[:MOST_DOCUMENT_CHARACTERS] for text in documents],
        "top_n": len(documents),
    }
    if model:
        asked["model"] = model
    return msgspec.json.encode(asked)


def headers(key: str) -> dict[str, str]:
    """What goes with it."""
    found = {"Content-Type": "application/json", "Accept": "application/json"}
    if key:
        found["Authorization"] = f"Bearer {key}"
    return found


def ranking(answer: bytes, count: int) -> list[Scored]:
    """The scores, best first, each document at most once; those left out by the endpoint are not
    there. Unavailable where the answer is of another form.
    """
    try:
        scored = msgspec.json.decode(answer, type=_Answer).results
    except msgspec.DecodeError as error:
        raise Unavailable(
            f"the reranker's answer is of another form ({error}); rerank.url must be the /rerank "
            "of a Cohere- or Jina-compatible endpoint",
            code="rerank_failed",
        ) from error
    fitting = {each.index: each for each in scored if 0 <= each.index < count}
    return sorted(fitting.values(), key=lambda each: (-each.relevance_score, each.index))


class _Answer(msgspec.Struct, frozen=True):
    results: list[Scored]
