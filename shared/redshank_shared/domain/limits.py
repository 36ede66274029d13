"""Bounds of a turn, of its calls (K-81), as numbers that the pipeline asks."""

from typing import Literal, get_args

import msgspec

from redshank_shared.domain.delivered import Delivered
from redshank_shared.domain.errors import Invalid

Sandbox = Literal["inherited", "read_only", "workspace_write", "network_enabled"]

# In the order of K-81: each allows what the ones before it allow.
SANDBOXES: tuple[Sandbox, ...] = get_args(Sandbox)
# What JSON carries exactly, in every language.
LARGEST = 2**53 - 1
_MIB = 1024 * 1024


class Limits(msgspec.Struct, frozen=True):
    """Sizes in bytes, times in milliseconds; all above zero. An envelope is a result as JSON text;
    what is cumulative counts over one turn. `max_sandbox` is the widest that a tool may ask for.
    """

    max_input_bytes: int = 16 * _MIB
    max_output_bytes: int = 16 * _MIB
    max_result_envelope_bytes: int = 24 * _MIB
    max_timeout_ms: int = 180_000
    max_parallel_tools: int = 16
    max_calls_per_turn: int = 256
    max_cumulative_output_bytes: int = 64 * _MIB
    max_cumulative_result_envelope_bytes: int = 96 * _MIB
    max_sandbox: Sandbox = "network_enabled"


def checked(limits: Limits, prefix: str = "limits") -> Limits:
    """The limits, if each is above zero, below 2**53, of a known sandbox; else Invalid that names
    the field behind the prefix.
    """
    for field in msgspec.structs.fields(Limits):
        value = getattr(limits, field.name)
        name = f"{prefix}.{field.name}"
        if field.name == "max_sandbox":
            if value not in SANDBOXES:
                raise Invalid(f"{name} must be one of {', '.join(SANDBOXES)}", field=name)
        elif not 0 < value <= LARGEST:
            raise Invalid(
                f"{name} is {value}; it must be above 0 and at most {LARGEST}: "
                f"{field.default} is usual",
                code="limit_out_of_range",
                field=name,
            )
    return limits


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


def refusal_of_more(limits: Limits, delivered: Delivered) -> str | None:
    """Why no further call of this turn may start, in words for the model, or None: its results so
    far have passed a cumulative limit (K-83).
    """
    for quota, size, limit in (
        ("max_cumulative_output_bytes", delivered.output_bytes, limits.max_cumulative_output_bytes),
        (
            "max_cumulative_result_envelope_bytes",
            delivered.envelope_bytes,
            limits.max_cumulative_result_envelope_bytes,
        ),
    ):
        if size > limit:
            return (
                f"quota {quota}: the results of this turn have {size} bytes, the limit is "
                f"{limit}; this call was not started; end the turn with what is known"
            )
    return None


def refusal_of_sandbox(limits: Limits, sandbox: Sandbox) -> str | None:
    """Why a tool of this sandbox may not run, in words for the model, or None."""
    if SANDBOXES.index(sandbox) <= SANDBOXES.index(limits.max_sandbox):
        return None
    return (
        f"quota max_sandbox: the tool needs {sandbox}, the limit is {limits.max_sandbox}; "
        f"do it another way"
    )


class Oversize(msgspec.Struct, frozen=True):
    """A result that passes a limit: which, with both sizes in bytes (O8)."""

    quota: str
    limit: int
    size: int


def oversize_of(limits: Limits, output: str) -> Oversize | None:
    """Which limit this output passes alone, or None."""
    size = Delivered().plus(output)
    if size.output_bytes > limits.max_output_bytes:
        return Oversize("max_output_bytes", limits.max_output_bytes, size.output_bytes)
    if size.envelope_bytes > limits.max_result_envelope_bytes:
        return Oversize(
            "max_result_envelope_bytes", limits.max_result_envelope_bytes, size.envelope_bytes
        )
    return None


def clamped_seconds(limits: Limits, timeout_seconds: float) -> float:
    """The time that a tool asks for, in seconds, no longer than the limit (K-82)."""
    return min(timeout_seconds, limits.max_timeout_ms / 1000)
