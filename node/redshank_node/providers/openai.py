"""Asks a model over the chat completions wire, at OpenAI or any server that speaks it."""

import functools
from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec

from redshank_node.providers.chunks import ChunkAnswer
from redshank_node.providers.encoding import KeptBytes, encoded
from redshank_node.providers.history import (
    message_key,
    ordered,
    sent_arguments,
    sent_name,
    turn_begin,
)
from redshank_node.providers.provider import Answer, Delta, ModelRequest, ModelSettings, Surface
from redshank_node.providers.seen_images import WEB_TYPES, seen, text_of
from redshank_node.providers.streaming import streamed
from redshank_node.providers.transport import Link
from redshank_shared.domain.images import KeptImage
from redshank_shared.domain.messages import (
    AssistantMessage,
    Message,
    ResultMessage,
    ToolDescription,
)

OPENAI_URL = "https://api.openai.com/v1"
_USAGE_PATIENCE_SECONDS = 5.0
_END_PATIENCE_SECONDS = 0.05


class OpenAI:
    """A model behind `POST {base_url}/chat/completions`."""

    def __init__(self, settings: ModelSettings) -> None:
        base_url = settings.base_url or OPENAI_URL
        key = {"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        self.settings = settings
        self._link = Link(settings, base_url, "/chat/completions", key)
        self._kept = KeptBytes()
        self._is_openai = base_url.startswith("https://api.openai.com")
        self._head = self._encoded_head()

    def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Answer]:
        """Deltas, then the Answer; raises ModelFailed (F46)."""
        answer = ChunkAnswer(self._link.failures, self.settings.model)
        return streamed(self._link, self._body(request), answer, _patience)

    async def close(self) -> None:
        """Let the client's connections go."""
        await self._link.close()

    def _body(self, request: ModelRequest) -> bytes:
        parts = [self._head, b',"messages":[', b",".join(self._messages(request)), b"]"]
        if request.surface.tools:
            surface, own = request.surface, request.own_search
            key = ("surface", surface.digest, own)
            make = functools.partial(self._encoded_surface, surface, own)
            parts.append(self._kept.get(key, make))
        parts.append(b"}")
        return b"".join(parts)

    def _messages(self, request: ModelRequest) -> list[bytes]:
        """The conversation's messages, each encoded once."""
        found: list[bytes] = []
        if request.system:
            system = {"role": "system", "content": request.system}
            key = ("system", request.system)
            found.append(self._kept.get(key, functools.partial(encoded, system)))
        history = ordered(request.messages)
        begin = turn_begin(history)
        for place, message in enumerate(history):
            in_turn = place >= begin and isinstance(message, AssistantMessage)
            kept = (*message_key(request.conversation, message), in_turn)
            make = functools.partial(self._encoded, message, in_turn)
            found.append(self._kept.get(kept, make))
            images = self._images_behind(request, history, place) if request.images else []
            if images:
                keys = ("images", request.conversation, *(image.digest for image in images))
                show = functools.partial(_shown, images, request.images)
                found.append(self._kept.get(keys, show))
        if request.pinned:
            found.append(encoded({"role": "user", "content": request.pinned}))
        return found

    def _images_behind(
        self, request: ModelRequest, history: Sequence[Message], place: int
    ) -> list[KeptImage]:
        """The images to show behind the last of an answer's results: a tool's message holds text
        alone, and nothing may stand between the results of one answer.
        """
        following = history[place + 1] if place + 1 < len(history) else None
        if isinstance(following, ResultMessage):
            return []
        images: list[KeptImage] = []
        while isinstance(message := history[place], ResultMessage):
            images[:0] = seen(message, request.images, WEB_TYPES if self._is_openai else None)
            place -= 1
        return images

    def _encoded(self, message: Message, in_turn: bool) -> bytes:
        if isinstance(message, ResultMessage):
            return encoded(_result(message))
        if isinstance(message, AssistantMessage):
            return encoded(self._assistant(message, in_turn))
        return encoded({"role": "user", "content": message.text})

    def _assistant(self, message: AssistantMessage, in_turn: bool) -> dict[str, object]:
        wire: dict[str, object] = {"role": "assistant", "content": message.text or None}
        if in_turn and message.opaque:
            wire.update(_thinking(message.opaque, self.settings.model))
        if message.calls:
            wire["tool_calls"] = [
                {
                    "id": call.call_id,
                    "type": "function",
                    "function": {
                        "name": sent_name(call.tool),
                        "arguments": sent_arguments(call.arguments),
                    },
                }
                for call in message.calls
            ]
        return wire

    def _encoded_surface(self, surface: Surface, own_search: str) -> bytes:
        search = b',"web_search_options":{}' if own_search else b""
        offered = [_tool(tool) for tool in surface.tools if tool.name != own_search]
        if not offered:
            return search
        tools = search + b',"tools":' + encoded(offered)
        # llama.cpp asks for it; OpenAI's own reasoning models refuse it.
        return tools if self._is_openai else tools + b',"parallel_tool_calls":true'

    def _encoded_head(self) -> bytes:
        limit = "max_completion_tokens" if self._is_openai else "max_tokens"
        head = {
            "model": self.settings.model,
            "stream": True,
            "stream_options": {"include_usage": True},
            limit: self.settings.max_output_tokens,
        }
        return encoded(head).removesuffix(b"}")


def _patience(answer: ChunkAnswer) -> float | None:
    """How long to wait for more: after the end only as long as the connection needs to end too."""
    if answer.done:
        return _END_PATIENCE_SECONDS
    return _USAGE_PATIENCE_SECONDS if answer.finished else None


def _result(message: ResultMessage) -> dict[str, object]:
    text = message.output or "(no output)"
    if message.is_error and not text.lower().startswith("error"):
        text = f"Error: {text}"
    return {"role": "tool", "tool_call_id": message.call_id, "content": text}


def _shown(images: Sequence[KeptImage], bodies: Mapping[str, bytes]) -> bytes:
    parts: list[dict[str, object]] = [
        {"type": "text", "text": "The images that these calls returned:"}
    ]
    for image in images:
        url = f"data:{image.media_type};base64,{text_of(image, bodies)}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return encoded({"role": "user", "content": parts})


def _tool(tool: ToolDescription) -> dict[str, object]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters or {"type": "object", "properties": {}},
    }
    return {"type": "function", "function": function}


def _thinking(opaque: str, model: str) -> dict[str, str]:
    """The model's own thinking under the name it came with; nothing of another model's."""
    try:
        block = msgspec.json.decode(opaque, type=dict[str, object])
    except msgspec.MsgspecError:
        return {}
    if block.get("wire") != "openai" or block.get("model") != model:
        return {}
    return {str(block["field"]): str(block["text"])}
