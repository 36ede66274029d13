"""Asks a model over the messages wire, at Anthropic or any server that speaks it."""

import functools
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import msgspec

from redshank_node.providers.arguments import parsed
from redshank_node.providers.blocks import THINKING, BlockAnswer
from redshank_node.providers.encoding import KeptBytes, encoded
from redshank_node.providers.history import (
    message_key,
    ordered,
    sent_arguments,
    sent_name,
    turn_begin,
)
from redshank_node.providers.native_search import BETA, RESULT, SEARCH, replayed
from redshank_node.providers.provider import Answer, Delta, ModelRequest, ModelSettings, Surface
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
    UserMessage,
)

ANTHROPIC_URL = "https://api.anthropic.com"
_VERSION = "2023-06-01"
_CACHED = {"type": "ephemeral"}
_CACHE_MARK = b',"cache_control":{"type":"ephemeral"}}'
_WEB_SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 5}
_END_PATIENCE_SECONDS = 0.05
_STOP_PATIENCE_SECONDS = 5.0


class Anthropic:
    """A model behind `POST {base_url}/v1/messages`."""

    def __init__(self, settings: ModelSettings) -> None:
        base_url = (settings.base_url or ANTHROPIC_URL).rstrip("/").removesuffix("/v1")
        headers = {"anthropic-version": _VERSION}
        if settings.api_key:
            headers["x-api-key"] = settings.api_key
        if settings.tool_search:
            headers["anthropic-beta"] = BETA
        self.settings = settings
        self._link = Link(settings, base_url, "/v1/messages", headers)
        self._kept = KeptBytes()
        self._heads = {think: self._encoded_head(think) for think in (False, True)}

    def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Answer]:
        """Deltas, then the Answer; raises ModelFailed (F46)."""
        answer = BlockAnswer(self._link.failures, self.settings.model)
        return streamed(self._link, self._body(request), answer, _patience)

    async def close(self) -> None:
        """Let the client's connections go."""
        await self._link.close()

    def _body(self, request: ModelRequest) -> bytes:
        history = ordered(request.messages)
        parts = [self._heads[self._may_think(history)]]
        if request.system:
            make = functools.partial(_encoded_system, request.system)
            parts.append(self._kept.get(("system", request.system), make))
        if request.surface.tools:
            surface = request.surface
            make = functools.partial(_encoded_surface, surface, request.own_search)
            parts.append(self._kept.get(("surface", surface.digest, request.own_search), make))
        else:
            parts.append(_encoded_past_tools(history))
        parts += [b',"messages":[', self._messages(request, history), b"]}"]
        return b"".join(parts)

    def _messages(self, request: ModelRequest, history: list[Message]) -> bytes:
        """The conversation as messages whose roles alternate, each part of it encoded once."""
        runs: list[tuple[bytes, list[bytes]]] = []
        deferred = any(tool.deferred for tool in request.surface.tools)
        offered = frozenset(tool.name for tool in request.surface.tools if deferred)
        for message in history:
            role = b"assistant" if isinstance(message, AssistantMessage) else b"user"
            shown = seen(message, request.images, WEB_TYPES)
            make = functools.partial(self._encoded, message, shown, request.images, offered)
            key = message_key(request.conversation, message)
            if isinstance(message, AssistantMessage) and RESULT in message.opaque:
                key = (*key, request.surface.digest)
            part = self._kept.get((*key, *(image.digest for image in shown)), make)
            if runs and runs[-1][0] == role:
                runs[-1][1].append(part)
            else:
                runs.append((role, [part]))
        if not runs or runs[0][0] == b"assistant":
            runs.insert(0, (b"user", [encoded({"type": "text", "text": "(continued)"})]))
        role, last = runs[-1]
        if role == b"user":
            last[-1] = last[-1].removesuffix(b"}") + _CACHE_MARK
        if request.pinned:
            # Behind the mark: what stands before it is the same in the next question.
            pinned = encoded({"type": "text", "text": request.pinned})
            if role == b"user":
                last.append(pinned)
            else:
                runs.append((b"user", [pinned]))
        return b",".join(
            b'{"role":"%s","content":[%s]}' % (role, b",".join(parts)) for role, parts in runs
        )

    def _encoded(
        self,
        message: Message,
        shown: Sequence[KeptImage],
        bodies: Mapping[str, bytes],
        offered: frozenset[str],
    ) -> bytes:
        """A message's blocks, joined by commas. `offered`: the tools that the provider's own search
        may find, with those that wait for none.
        """
        if isinstance(message, UserMessage):
            return encoded({"type": "text", "text": message.text or "(empty)"})
        if isinstance(message, ResultMessage):
            return encoded(_result(message, shown, bodies))
        return b",".join(encoded(block) for block in self._answer_blocks(message, offered))

    def _answer_blocks(
        self, message: AssistantMessage, offered: frozenset[str]
    ) -> list[dict[str, Any]]:
        calls = [_call(call) for call in message.calls]
        blocks: list[dict[str, Any]] = []
        own = _own_blocks(message.opaque, self.settings.model)
        for block in replayed(own, offered):
            if block.get("type") != "tool_use":
                blocks.append(block)
            elif calls:
                blocks.append(calls.pop(0))
        if not own and message.text.strip():
            blocks.append({"type": "text", "text": message.text})
        return blocks + calls

    def _may_think(self, history: list[Message]) -> bool:
        """Whether to ask for thinking: inside a turn only if its last step began with thinking."""
        if self.settings.thinking_tokens <= 0:
            return False
        steps = [
            message
            for message in history[turn_begin(history) :]
            if isinstance(message, AssistantMessage)
        ]
        return not steps or _has_thinking(_own_blocks(steps[-1].opaque, self.settings.model))

    def _encoded_head(self, think: bool) -> bytes:
        limit = self.settings.max_output_tokens
        head: dict[str, Any] = {"model": self.settings.model, "stream": True, "max_tokens": limit}
        if think:
            budget = max(1024, self.settings.thinking_tokens)
            head["thinking"] = {"type": "enabled", "budget_tokens": budget}
            head["max_tokens"] = limit if limit > budget else limit + budget
        return encoded(head).removesuffix(b"}")


def _patience(answer: BlockAnswer) -> float | None:
    """How long to wait for more: after the end only as long as the connection needs to end too."""
    if answer.done:
        return _END_PATIENCE_SECONDS
    return _STOP_PATIENCE_SECONDS if answer.finished else None


def _own_blocks(opaque: str, model: str) -> list[dict[str, Any]]:
    """The blocks of an answer that this model thought about; none of another's."""
    if not opaque:
        return []
    try:
        kept = msgspec.json.decode(opaque, type=dict[str, Any])
    except msgspec.MsgspecError:
        return []
    if kept.get("wire") != "anthropic" or kept.get("model") != model:
        return []
    return list(kept.get("blocks", ()))


def _has_thinking(blocks: list[dict[str, Any]]) -> bool:
    return any(block.get("type") in THINKING for block in blocks)


def _call(call: AskedCall) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": call.call_id,
        "name": sent_name(call.tool),
        "input": parsed(sent_arguments(call.arguments))[0],
    }


def _result(
    message: ResultMessage, shown: Sequence[KeptImage], bodies: Mapping[str, bytes]
) -> dict[str, Any]:
    block: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": message.call_id,
        "content": message.output or "(no output)",
    }
    if shown:
        block["content"] = [
            {"type": "text", "text": block["content"]},
            *(_image(image, bodies) for image in shown),
        ]
    if message.is_error:
        block["is_error"] = True
    return block


def _image(image: KeptImage, bodies: Mapping[str, bytes]) -> dict[str, Any]:
    source = {
        "type": "base64",
        "media_type": image.media_type,
        "data": text_of(image, bodies),
    }
    return {"type": "image", "source": source}


def _encoded_system(system: str) -> bytes:
    return b',"system":' + encoded([{"type": "text", "text": system, "cache_control": _CACHED}])


def _encoded_past_tools(history: list[Message]) -> bytes:
    """The tools of earlier calls, closed to new ones: a history with calls is refused without."""
    names = {
        sent_name(call.tool)
        for message in history
        if isinstance(message, AssistantMessage)
        for call in message.calls
    }
    if not names:
        return b""
    tools = [{"name": name, "input_schema": {"type": "object"}} for name in sorted(names)]
    return b',"tool_choice":{"type":"none"},"tools":' + encoded(tools)


def _encoded_surface(surface: Surface, own_search: str) -> bytes:
    kept_back = [{**_tool(tool), "defer_loading": True} for tool in surface.tools if tool.deferred]
    tools: list[dict[str, Any]] = [dict(SEARCH)] if kept_back else []
    tools += [
        dict(_WEB_SEARCH) if tool.name == own_search else _tool(tool)
        for tool in surface.tools
        if not tool.deferred
    ]
    # A tool that is kept back may not carry the mark.
    tools[-1]["cache_control"] = _CACHED
    return b',"tools":' + encoded([*tools, *kept_back])


def _tool(tool: ToolDescription) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.parameters or {"type": "object", "properties": {}},
    }
