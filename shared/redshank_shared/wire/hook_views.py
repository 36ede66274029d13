"""What HTTP clients get to see of hooks."""

from redshank_shared.wire.views import View


class DeadLetterView(View):
    """A hook that gave no answer on a call: why, after how many attempts, what it was sent (JSON
    text, shortened where it is long). `at`: RFC 3339 UTC.
    """

    id: str
    at: str
    hook: str
    workstream_id: str
    call_id: str
    attempts: int
    detail: str
    payload: str
