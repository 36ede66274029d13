"""Runtime limits as HTTP clients get them."""

from redshank_shared.domain.limits import Sandbox
from redshank_shared.wire.views import View


class LimitsView(View):
    """Sizes in bytes; what is cumulative counts over one turn."""

    max_input_bytes: int
    max_output_bytes: int
    max_result_envelope_bytes: int
    max_timeout_ms: int
    max_parallel_tools: int
    max_calls_per_turn: int
    max_cumulative_output_bytes: int
    max_cumulative_result_envelope_bytes: int
    max_sandbox: Sandbox


class ToolLimitsView(View):
    """Revision 0: nothing was set yet, the configuration counts. `set_at`: RFC 3339 UTC."""

    limits: LimitsView
    revision: int
    set_by: str
    set_at: str | None
