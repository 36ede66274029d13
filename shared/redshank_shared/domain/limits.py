"""Bounds of a turn, of its calls (K-81), as numbers that the pipeline asks."""

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """Sizes in bytes, times in milliseconds; all above zero."""

    max_input_bytes: int = 16 * 1024 * 1024
    max_output_bytes: int = 16 * 1024 * 1024
    max_timeout_ms: int = 180_000
    max_parallel_tools: int = 16
    max_calls_per_turn: int = 256


def refusal_of_input(limits: Limits, arguments: str) -> str | None:
    """Why these arguments (JSON text) are too large, in words for the model, or None."""
    size = len(arguments.encode(errors="surrogatepass"))
    if size <= limits.max_input_bytes:
        return None
    return (
        f"quota max_input_bytes: the arguments have {size} bytes, "
        f"the limit is {limits.max_input_bytes}; send less in one call"
    )


def refusal_of_batch(limits: Limits, calls_before: int, calls_now: int) -> str | None:
    """Why this many calls are too many for one turn, in words for the model, or None; then no call
    of the batch runs (O7).
    """
    if calls_before + calls_now <= limits.max_calls_per_turn:
        return None
    return (
        f"quota max_calls_per_turn: {calls_now} more calls after {calls_before} pass the limit "
        f"of {limits.max_calls_per_turn} in one turn; no call of this batch ran; "
        f"end the turn with what is known"
    )
