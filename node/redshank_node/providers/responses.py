"""Asks a model over the responses wire, at OpenAI or any server that speaks it."""

import functools
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec

from redshank_node.providers.encoding import KeptBytes, encoded
from redshank_node.providers.history import message_key, ordered, sent_arguments, sent_name
from redshank_node.providers.hosted_search import OUTPUT, SEARCH, namespaces, replayed
from redshank_node.providers.provider import Answer, Delta, ModelRequest, ModelSettings, Surface
from redshank_node.providers.response_items import WIRE, ResponseAnswer
from redshank_node.providers.seen_images import WEB_TYPES, seen, text_of
from redshank_node.providers.streaming import streamed
from redshank_node.providers.transport import Link
from redshank_shared.domain.events import AskedCall
from redshank_shared.domain.images import KeptImage
from redshank_shared.domain.messages import (
    AssistantMessage,
    Message,
    ResultMessage,
    ToolDescription,
)
from redshank_shared.permissions.tool_card import server_of

OPENAI_URL = "https://api.openai.com/v1"
_END_PATIENCE_SECONDS = 0.05


class Responses:
    """A model behind `POST {base_url}/responses`. Nothing of a conversation is kept there: what
    the model must have again, its thinking sealed by the server, goes along with each question.
    """

    def __init__(self, settings: ModelSettings) -> None:
        base_url = settings.base_url or OPENAI_URL
        key = {"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {}
        self.settings = settings
        self._link = Link(settings, base_url, "/responses", key)
        self._kept = KeptBytes()
        self._head = self._encoded_head()

    def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Answer]:
        """Deltas, then the Answer; raises ModelFailed (F46)."""
        answer = ResponseAnswer(self._link.failures, self.settings.model)
        return streamed(self._link, self._body(request), answer, _patience)

    async def close(self) -> None:
        """Let the client's connections go."""
        await self._link.close()

    def _body(self, request: ModelRequest) -> bytes:
        parts = [self._head]
        if request.system:
            make = functools.partial(_encoded_system, request.system)
            parts.append(self._kept.get(("system", request.system), make))
        parts += [b',"input":[', b",".join(self._input(request)), b"]"]
        if request.surface.tools:
            surface, own = request.surface, request.own_search
            make = functools.partial(_encoded_surface, surface, own)
            parts.append(self._kept.get(("surface", surface.digest, own), make))
        parts.append(b"}")
        return b"".join(parts)

    def _input(self, request: ModelRequest) -> list[bytes]:
        """The conversation as items, each message encoded once."""
        deferred = any(tool.deferred for tool in request.surface.tools)
        offered = frozenset(tool.name for tool in request.surface.tools if deferred)
        found: list[bytes] = []
        for message in ordered(request.messages):
            shown = seen(message, request.images, WEB_TYPES)
            key = message_key(request.conversation, message)
            if isinstance(message, AssistantMessage) and OUTPUT in message.opaque:
                key = (*key, request.surface.digest)
            make = functools.partial(self._encoded, message, shown, request.images, offered)
            part = self._kept.get((*key, *(image.digest for image in shown)), make)
            found += [part] if part else []
        if request.pinned:
            found.append(encoded({"role": "user", "content": request.pinned}))
        return found

    def _encoded(
        self,
        message: Message,
        shown: Sequence[KeptImage],
        bodies: Mapping[str, bytes],
        offered: frozenset[str],
    ) -> bytes:
        """A message's items, joined by commas."""
        if isinstance(message, ResultMessage):
            return encoded(_result(message, shown, bodies))
        if isinstance(message, AssistantMessage):
            return b",".join(encoded(item) for item in self._answer_items(message, offered))
        return encoded({"role": "user", "content": message.text or "(empty)"})

    def _answer_items(
        self, message: AssistantMessage, offered: frozenset[str]
    ) -> list[dict[str, Any]]:
        calls = list(message.calls)
        items: list[dict[str, Any]] = []
        own = _own_items(message.opaque, self.settings.model)
        for item in replayed(own, offered):
            if item.get("type") != "function_call":
                items.append(item)
            elif calls:
                # The namespace is there only beside the search that it was found by.
                items.append(_call(calls.pop(0)) | (item if offered else {}))
        if not own and message.text.strip():
            items.append({"role": "assistant", "content": message.text})
        return [*items, *map(_call, calls)]

    def _encoded_head(self) -> bytes:
        head = {
            "model": self.settings.model,
            "stream": True,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "max_output_tokens": self.settings.max_output_tokens,
        }
        return encoded(head).removesuffix(b"}")


def _patience(answer: ResponseAnswer) -> float | None:
    """How long to wait for more: after the end only as long as the connection needs to end too."""
    return _END_PATIENCE_SECONDS if answer.done else None


def _own_items(opaque: str, model: str) -> list[dict[str, Any]]:
    """The items of an answer that this model gave over this wire; none of another's."""
    if not opaque:
        return []
    try:
        kept = msgspec.json.decode(opaque, type=dict[str, Any])
    except msgspec.MsgspecError:
        return []
    if kept.get("wire") != WIRE or kept.get("model") != model:
        return []
    return list(kept.get("items", ()))


def _call(call: AskedCall) -> dict[str, Any]:
    return {
        "type": "function_call",
        "call_id": call.call_id,
        "name": sent_name(call.tool),
        "arguments": sent_arguments(call.arguments),
    }


def _result(
    message: ResultMessage, shown: Sequence[KeptImage], bodies: Mapping[str, bytes]
) -> dict[str, Any]:
    text = message.output or "(no output)"
    if message.is_error and not text.lower().startswith("error"):
        text = f"Error: {text}"
    item = {"type": "function_call_output", "call_id": message.call_id}
    if not shown:
        return {**item, "output": text}
    images = [
        {
            "type": "input_image",
            "image_url": f"data:{image.media_type};base64,{text_of(image, bodies)}",
        }
        for image in shown
    ]
    return {**item, "output": [{"type": "input_text", "text": text}, *images]}


def _encoded_system(system: str) -> bytes:
    return b',"instructions":' + encoded(system)


def _encoded_surface(surface: Surface, own_search: str) -> bytes:
    tools: list[dict[str, Any]] = [
        {"type": "web_search"} if tool.name == own_search else _function(tool)
        for tool in surface.tools
        if not tool.deferred
    ]
    waiting = [(server_of(tool.name), _function(tool)) for tool in surface.tools if tool.deferred]
    if waiting:
        tools += [SEARCH, *namespaces(waiting)]
    return b',"tools":' + encoded(tools)


def _function(tool: ToolDescription) -> dict[str, Any]:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters or {"type": "object", "properties": {}},
        "strict": False,
    }
