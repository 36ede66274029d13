"""Puts what was found into an order by relevance, where a reranker is set up."""

import logging
from collections.abc import Sequence

from redshank_node.tools.support.web.operators import Unanswered, asked
from redshank_node.tools.support.web.searxng import Found
from redshank_node.tools.tool import WebAccess
from redshank_shared.domain.errors import RedshankError
from redshank_shared.wire.rerank import MOST_ANSWER_BYTES, Scored, headers, question, ranking

logger = logging.getLogger(__name__)

SECONDS = 10.0


async def reranked(access: WebAccess, query: str, found: Sequence[Found]) -> list[Found]:
    """The results of a search of the web, as `best_first` has them."""
    if not access.rerank.web_search:
        return list(found)
    texts = [f"{each.title}\n{each.snippet}" for each in found]
    return [found[place] for place in await best_first(access, query, texts)]


async def best_first(access: WebAccess, query: str, texts: Sequence[str]) -> list[int]:
    """The places of the texts, the most relevant first, those below the threshold left out; in
    their own order where no reranker is set, where it fails, or where it would leave none: a search
    never fails by it (T-32).
    """
    rerank, as_they_are = access.rerank, list(range(len(texts)))
    if not rerank.url or len(texts) < 2:
        return as_they_are
    try:
        key = await access.find_rerank_key() if access.find_rerank_key else ""
        body = question(rerank.model, rerank.instruction, query, texts)
        answer = await asked(
            "POST", rerank.url, SECONDS, MOST_ANSWER_BYTES, headers=headers(key), body=body
        )
        scored = ranking(answer, len(texts))
    except (Unanswered, RedshankError) as failed:
        logger.warning("the reranker is left out: %s", failed)
        return as_they_are
    return [each.index for each in _kept(scored, rerank.threshold)] or as_they_are


def _kept(scored: Sequence[Scored], threshold: float) -> list[Scored]:
    return [each for each in scored if not threshold or each.relevance_score >= threshold]
