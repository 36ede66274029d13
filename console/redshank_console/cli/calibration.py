"""Says from a reranker's scores of known pairs whether it tells them apart, where the line is."""

from collections.abc import Sequence

import msgspec

# (query, a passage that answers it, passages that do not), far apart in subject and in words.
PROBES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "how do I restore a PostgreSQL backup",
        "Use pg_restore to load an archive made by pg_dump into an empty database.",
        (
            "The redshank is a wader that nests in wet grassland.",
            "Knead the dough for ten minutes, then let it rise in a warm place.",
        ),
    ),
    (
        "what do redshanks eat",
        "Redshanks feed on worms, small molluscs and crustaceans that they find in mud.",
        (
            "A mutex protects shared data from being changed by two threads at once.",
            "The last train to Emden leaves at ten past eleven.",
        ),
    ),
    (
        "why does my bread not rise",
        "Dead yeast, too much salt or a cold kitchen keep a dough from rising.",
        (
            "Waders follow the tide along the coast.",
            "An index on the foreign key makes the join faster.",
        ),
    ),
    (
        "how to cancel an asyncio task",
        "Call cancel() on the task and await it; CancelledError is raised inside the coroutine.",
        (
            "High water at the harbour is at six in the morning.",
            "Roast the beetroot with thyme and a little oil.",
        ),
    ),
)


class Calibration(msgspec.Struct, frozen=True):
    """What the probes say. `threshold` is the suggestion, None where the scores do not separate or
    do not go from 0 to 1.
    """

    relevant_lowest: float
    irrelevant_highest: float
    separates: bool
    threshold: float | None
    says: str


def passages(probe: int) -> tuple[str, ...]:
    """A probe's passages as they are sent; the relevant one stands second, so that an endpoint
    that scores by place gives itself away.
    """
    _, relevant, others = PROBES[probe]
    return (others[0], relevant, *others[1:])


def calibrated(scores: Sequence[Sequence[float]]) -> Calibration:
    """What these scores say, a sequence a probe, each in the order of its `passages` (T-32)."""
    relevant = [each[1] for each in scores]
    irrelevant = [score for each in scores for place, score in enumerate(each) if place != 1]
    low, high = min(relevant), max(irrelevant)
    if low <= high:
        return Calibration(
            low,
            high,
            separates=False,
            threshold=None,
            says=(
                "no clean separation: an irrelevant passage scores as high as a relevant one. The "
                "model is too weak, or is served without its template: set rerank.instruction or "
                "mend the server"
            ),
        )
    if min(*relevant, *irrelevant) < 0 or max(*relevant, *irrelevant) > 1:
        return Calibration(
            low,
            high,
            separates=True,
            threshold=None,
            says="the scores separate, but do not go from 0 to 1: leave rerank.threshold at 0",
        )
    middle = round((low + high) / 2, 3)
    return Calibration(low, high, separates=True, threshold=middle, says="the scores separate")
