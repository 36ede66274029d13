"""Names what may be set of a hook: who is asked, about which calls, how long, what if it fails."""

from typing import Annotated, Literal

import msgspec

HookEvent = Literal["permission_request", "permission_denied"]

# One decision waits no longer than this for all of its hooks together.
DECISION_SECONDS = 60.0
MOST_RETRIES = 5
MOST_STEPS = 32
# A model that looks around before it answers takes longer than a program.
AGENT_SECONDS = 30.0


class HookAgent(msgspec.Struct, frozen=True):
    """A model that is asked with this `prompt`; empty `model`: the default one. `tools` are the
    names of those that it may call, none unless it has a tool_surface (K-79); it is asked at most
    `steps` times for one decision.
    """

    prompt: str
    model: str = ""
    tools: tuple[str, ...] = ()
    steps: Annotated[int, msgspec.Meta(ge=1, le=MOST_STEPS)] = 8


class Hook(msgspec.Struct, frozen=True):
    """One of `command`, `url`, `agent` is set. `timeout_seconds` holds for all attempts together,
    of which there are `retries` beside the first; `tools` are patterns as in permission rules.
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
    agent: HookAgent | None = None
