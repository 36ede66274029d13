"""What a provider is: it turns a conversation into one answer, streaming the text."""

from collections.abc import AsyncIterator, Mapping
from typing import Literal, Protocol

import msgspec

from redshank_shared.domain.messages import Finish, Message, ToolDescription


class ModelSettings(msgspec.Struct, frozen=True):
    """One configured model: where it is asked and how. `api_key` never reaches a log, an event or
    an error.
    """

    name: str
    provider: Literal["openai", "anthropic", "demo", "scripted"]
    model: str
    base_url: str = ""
    api_key: str = ""
    context_window: int = 131072
    max_output_tokens: int = 8192
    thinking_tokens: int = 0
    timeout_seconds: float = 300.0
    supports_vision: bool = False
    web_search: bool = False
    tool_search: bool = False

    def __repr__(self) -> str:
        return f"ModelSettings({self.name!r}, {self.provider!r}, {self.model!r}, {self.base_url!r})"


class Surface(msgspec.Struct, frozen=True):
    """The frozen tools of a turn. `digest` names them, so that a provider encodes each surface once
    and keeps the bytes.
    """

    digest: str
    tools: tuple[ToolDescription, ...]


class ModelRequest(msgspec.Struct, frozen=True):
    """One question to a model: everything it reads. `conversation` is the workstream's id;
    `own_search` the tool of the surface that the provider carries out by itself, empty: none;
    `images` has the bytes of the images to show, by digest, none for a model that does not see;
    `pinned` stands behind the messages, in this question only.
    """

    conversation: str
    system: str
    messages: tuple[Message, ...]
    surface: Surface
    own_search: str = ""
    images: Mapping[str, bytes] = {}
    pinned: str = ""


class Delta(msgspec.Struct, frozen=True):
    """A piece of the answer in progress, to show and to forget."""

    channel: Literal["text", "reasoning"]
    text: str


class ModelCall(msgspec.Struct, frozen=True):
    """One tool call of an answer. `arguments` is JSON text of an object ("{}" when the model sent
    nothing).

    `error` says in words for the model why the call cannot run (arguments cut off or not JSON); it
    then never runs (F-40, F-46).
    """

    provider_id: str
    tool: str
    arguments: str
    error: str = ""


class Answer(msgspec.Struct, frozen=True):
    """A whole answer. `opaque` are blocks to send back unchanged (JSON text; the anthropic wire's
    thinking with its signature). `found_tools` are those that the provider's own search brought.
    """

    text: str
    finish: Finish
    calls: tuple[ModelCall, ...] = ()
    reasoning: str = ""
    opaque: str = ""
    found_tools: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


class ModelFailed(Exception):
    """The model gave no whole answer. `detail` is for the reader and names the mend or the
    provider's own words, never a key.
    """

    def __init__(
        self, detail: str, *, code: str, retry: bool, delay_seconds: float | None = None
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code
        self.retry = retry
        self.delay_seconds = delay_seconds


class Provider(Protocol):
    """One model, asked over one client for the life of the process."""

    settings: ModelSettings

    def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Answer]:
        """Deltas while they come, then exactly one Answer as the last item; raises ModelFailed and
        nothing else.

        Makes one attempt: `retry.py` decides over more. Closing the iterator stops the request at
        once.
        """
        ...

    async def close(self) -> None:
        """Let the client's connections go."""
        ...
