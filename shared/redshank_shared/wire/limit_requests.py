"""Bodies that HTTP clients send to set runtime limits."""

from typing import Annotated

from pydantic import Field, StrictInt

from redshank_shared.domain.limits import Sandbox
from redshank_shared.wire.requests import Body


class ChangedLimits(Body):
    """Limits to change; those that are not named stay as they are. Sizes in bytes."""

    max_input_bytes: StrictInt | None = None
    max_output_bytes: StrictInt | None = None
    max_result_envelope_bytes: StrictInt | None = None
    max_timeout_ms: StrictInt | None = None
    max_parallel_tools: StrictInt | None = None
    max_calls_per_turn: StrictInt | None = None
    max_cumulative_output_bytes: StrictInt | None = None
    max_cumulative_result_envelope_bytes: StrictInt | None = None
    max_sandbox: Sandbox | None = None


class NewToolLimits(Body):
    """`expected_revision`: the one that was read; where it has moved, nothing is changed."""

    limits: ChangedLimits
    expected_revision: Annotated[StrictInt, Field(ge=0)] | None = None
