"""What a model reads: a conversation's messages, before any provider's wire form.

Messages are made once from the log and never change, so that a provider may keep their encoded
bytes by (`conversation`, `seq`).
"""

from typing import Any, Literal

import msgspec

from redshank_shared.domain.events import AskedCall
from redshank_shared.domain.images import KeptImage


class UserMessage(msgspec.Struct, frozen=True):
    """Words of a person or of another source. `seq` is the log's number of the fact."""

    seq: int
    text: str


class AssistantMessage(msgspec.Struct, frozen=True):
    """An earlier answer of the model. `opaque` are a provider's own blocks (JSON text), sent back
    unchanged to that provider.
    """

    seq: int
    text: str
    calls: tuple[AskedCall, ...] = ()
    opaque: str = ""
    model: str = ""


class ResultMessage(msgspec.Struct, frozen=True):
    """The one result of a call. `images` stand behind its output."""

    seq: int
    call_id: str
    tool: str
    output: str
    is_error: bool
    images: tuple[KeptImage, ...] = ()


Message = UserMessage | AssistantMessage | ResultMessage
Finish = Literal["stop", "tool_calls", "length", "refused"]


class ToolDescription(msgspec.Struct, frozen=True):
    """A tool as the model sees it: exposed name, description, JSON schema of its arguments.
    `deferred`: the model's provider keeps it back until its own search finds it (T-61).
    """

    name: str
    description: str
    parameters: dict[str, Any]
    deferred: bool = False
