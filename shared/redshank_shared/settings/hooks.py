"""Names what may be set of a hook: who is asked, about which calls, how long, what if it fails."""

from typing import Annotated, Literal

import msgspec

HookEvent = Literal["permission_request", "permission_denied"]

# One decision waits no longer than this for all of its hooks together.
DECISION_SECONDS = 60.0
MOST_RETRIES = 5


class Hook(msgspec.Struct, frozen=True):
    """Either `command` or `url` is set. `timeout_seconds` holds for all attempts together, of which
    there are `retries` beside the first; `tools` are patterns as in permission rules.
    """

    name: str
    event: HookEvent
    tools: tuple[str, ...] = ("*",)
    command: tuple[str, ...] = ()
    url: str = ""
    timeout_seconds: Annotated[float, msgspec.Meta(gt=0, le=DECISION_SECONDS)] = 10.0
    retries: Annotated[int, msgspec.Meta(ge=0, le=MOST_RETRIES)] = 1
    failure_policy: Literal["open", "closed"] = "closed"
    allow_private: bool = False
