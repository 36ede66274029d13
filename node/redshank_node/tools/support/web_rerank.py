"""Puts search results into an order by relevance, where a reranker is set up."""

import logging
from collections.abc import Sequence

from redshank_node.tools.support.web_operators import Unanswered, asked
from redshank_node.tools.support.web_searxng import Found
from redshank_node.tools.tool import WebAccess
from redshank_shared.domain.errors import RedshankError
from redshank_shared.wire.rerank import MOST_ANSWER_BYTES, Scored, headers, question, ranking

logger = logging.getLogger(__name__)

SECONDS = 10.0


async def reranked(access: WebAccess, query: str, found: Sequence[Found]) -> list[Found]:
    """The results best first, those below the threshold left out; in their own order where no
    reranker is set, where it fails, or where it would leave none: a search never fails by it
    (T-32).
    """
    rerank = access.rerank
    if not rerank.url or not rerank.web_search or len(found) < 2:
        return list(found)
    texts = [f"{each.title}\n{each.snippet}" for each in found]
    try:
        key = await access.find_rerank_key() if access.find_rerank_key else ""
        body = question(rerank.model, rerank.instruction, query, texts)
        answer = await asked(
            "POST", rerank.url, SECONDS, MOST_ANSWER_BYTES, headers=headers(key), body=body
        )
        scored = ranking(answer, len(found))
    except (Unanswered, RedshankError) as failed:
        logger.warning("the reranker is left out: %s", failed)
        return list(found)
    return [found[each.index] for each in _kept(scored, rerank.threshold)] or list(found)


def _kept(scored: Sequence[Scored], threshold: float) -> list[Scored]:
    return [each for each in scored if not threshold or each.relevance_score >= threshold]
