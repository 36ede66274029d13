"""Records what a question beside the conversation used."""

from redshank_node.engine.recorder import Recorder
from redshank_node.providers.provider import Answer
from redshank_shared.domain.events import TokensUsed
from redshank_shared.metrics import Metrics


async def record_usage(recorder: Recorder, metrics: Metrics, model: str, answer: Answer) -> None:
    """Count the tokens of an answer of this model, whatever becomes of it (F47)."""
    used = TokensUsed(
        model=model,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
        cached_tokens=answer.cached_tokens,
    )
    metrics.tokens_used(model, used.input_tokens, used.output_tokens, used.cached_tokens)
    await recorder.record(lambda _: [used])
