"""Assembles an answer from the events of a message stream (the anthropic wire)."""

from collections.abc import Iterator
from typing import Any

from redshank_node.providers.arguments import checked, parsed
from redshank_node.providers.encoding import decoded, encoded, mended
from redshank_node.providers.failures import Failures
from redshank_node.providers.native_search import RESULT, answered, found_in, is_search
from redshank_node.providers.provider import Answer, Delta, ModelCall
from redshank_node.providers.sources import Sources
from redshank_node.providers.sse import Event
from redshank_node.providers.transport import HELD_BYTES
from redshank_shared.domain.messages import Finish

_FINISHES: dict[str, Finish] = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
THINKING = ("thinking", "redacted_thinking")


class _Block:
    """One content block in the making: what it began with, what was added to it."""

    def __init__(self, start: dict[str, Any]) -> None:
        self.start = start
        self.kind = start.get("type")
        self.text = [_text(start.get("text")) or _text(start.get("thinking"))]
        self.signature = [_text(start.get("signature"))]
        self.json: list[str] = []

    def arguments(self) -> str:
        streamed = "".join(self.json)
        given = self.start.get("input")
        if streamed.strip() or not given:
            return streamed
        return encoded(given).decode()


class BlockAnswer:
    """One answer in the making. `finished`: the model said why it ends; `done`: the stream did."""

    def __init__(self, failures: Failures, model: str) -> None:
        self.finished = False
        self.done = False
        self._failures = failures
        self._model = model
        self._blocks: dict[int, _Block] = {}
        self._reason = ""
        self._usage: dict[str, int] = {}
        self._sources = Sources()
        self._held = 0

    def feed(self, event: Event) -> Iterator[Delta]:
        """What this event adds to show. Raises ModelFailed where it carries an error."""
        data = event.data.strip()
        if not data or self.done:
            return
        if event.name == "page":
            raise self._failures.page(data)
        try:
            value = decoded(data)
        except ValueError as error:
            if not self.finished:
                raise self._failures.malformed(f"an event that is not JSON ({error})") from None
            return
        kind = value.get("type", event.name) if isinstance(value, dict) else ""
        if kind == "error" or (event.name == "json" and kind != "message"):
            raise self._failures.said(value)
        if not isinstance(value, dict):
            return
        if event.name == "json":
            yield from self._whole_message(value)
        else:
            yield from self._event(kind, value)
        if self._held > HELD_BYTES:
            raise self._failures.too_large(HELD_BYTES)

    def answer(self) -> Answer:
        """The whole answer. Raises ModelFailed if the stream was cut, or brought nothing."""
        if not self.finished and not self.done:
            raise self._failures.cut()
        finish: Finish = _FINISHES.get(self._reason, "stop")
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        calls = self._calls(blocks, cut=finish == "length")
        text = _joined(blocks, "text")
        if not text.strip():
            text = ""
        if not text and not calls and finish != "refused":
            raise self._failures.empty(length=finish == "length")
        usage = self._usage
        cached = usage.get("cache_read_input_tokens", 0)
        fresh = usage.get("input_tokens", 0) + usage.get("cache_creation_input_tokens", 0)
        return Answer(
            text=self._sources.behind(text),
            finish="tool_calls" if calls and finish == "stop" else finish,
            calls=calls,
            reasoning=_joined(blocks, "thinking"),
            opaque=self._opaque(blocks),
            found_tools=found_in(block.start for block in blocks),
            input_tokens=fresh + cached,
            output_tokens=usage.get("output_tokens", 0),
            cached_tokens=cached,
        )

    def _event(self, kind: str, value: dict[str, Any]) -> Iterator[Delta]:
        match kind:
            case "message_start":
                self._count(_dict(value.get("message")).get("usage"))
            case "content_block_start":
                yield from self._start(value.get("index"), _dict(value.get("content_block")))
            case "content_block_delta":
                yield from self._delta(value.get("index"), _dict(value.get("delta")))
            case "message_delta":
                self._count(value.get("usage"))
                self._end(_dict(value.get("delta")).get("stop_reason"))
            case "message_stop":
                self.done = True

    def _whole_message(self, message: dict[str, Any]) -> Iterator[Delta]:
        """A server that does not stream answers with the message itself."""
        self._count(message.get("usage"))
        content = message.get("content")
        for index, block in enumerate(content if isinstance(content, list) else ()):
            yield from self._start(index, _dict(block))
        self._end(message.get("stop_reason"))
        self.done = True

    def _start(self, index: Any, start: dict[str, Any]) -> Iterator[Delta]:
        block = self._blocks[_index(index)] = _Block(start)
        self._held += sum(len(value) for value in start.values() if isinstance(value, str))
        citations = start.get("citations")
        for citation in citations if isinstance(citations, list) else ():
            self._sources.add(citation)
        if block.text[0] and block.kind in ("text", "thinking"):
            yield _shown(block, block.text[0])

    def _delta(self, index: Any, delta: dict[str, Any]) -> Iterator[Delta]:
        block = self._blocks.get(_index(index))
        if block is None:
            raise self._failures.malformed("a delta of a block that never began")
        match delta.get("type"):
            case "text_delta" if block.kind == "text":
                piece = _text(delta.get("text"))
                block.text.append(piece)
            case "thinking_delta" if block.kind == "thinking":
                piece = _text(delta.get("thinking"))
                block.text.append(piece)
            case "signature_delta":
                block.signature.append(_text(delta.get("signature")))
                return
            case "input_json_delta":
                piece = _text(delta.get("partial_json"))
                block.json.append(piece)
                self._held += len(piece)
                return
            case "citations_delta":
                self._sources.add(delta.get("citation"))
                return
            case _:
                return
        self._held += len(piece)
        if piece:
            yield _shown(block, piece)

    def _end(self, reason: Any) -> None:
        if isinstance(reason, str) and reason:
            self._reason = reason
            self.finished = True

    def _count(self, usage: Any) -> None:
        for name, count in _dict(usage).items():
            if isinstance(count, int) and (count or name not in self._usage):
                self._usage[name] = count

    def _calls(self, blocks: list[_Block], *, cut: bool) -> tuple[ModelCall, ...]:
        calls = []
        for block in blocks:
            if block.kind == "tool_use":
                is_cut = cut and block is blocks[-1]
                arguments, error = checked(block.arguments(), cut=is_cut)
                tool = _text(block.start.get("name"))
                if not tool:
                    error = "This call names no tool, so it did not run. Send it with the name."
                calls.append(
                    ModelCall(_text(block.start.get("id")), tool, mended(arguments), error)
                )
        return tuple(calls)

    def _opaque(self, blocks: list[_Block]) -> str:
        """The answer's own order of blocks, with its thinking, its searches for tools as they came;
        "" without any.
        """
        if not any(block.kind in (*THINKING, RESULT) for block in blocks):
            return ""
        kept: list[dict[str, Any]] = []
        for block in blocks:
            if block.kind == "thinking":
                signature = "".join(block.signature)
                thinking = "".join(block.text)
                kept.append({**block.start, "thinking": thinking, "signature": signature})
            elif block.kind in ("redacted_thinking", RESULT):
                kept.append(block.start)
            elif is_search(block.start):
                kept.append({**block.start, "input": parsed(block.arguments() or "{}")[0] or {}})
            elif block.kind == "text" and "".join(block.text).strip():
                kept.append({"type": "text", "text": mended("".join(block.text))})
            elif block.kind == "tool_use":
                kept.append({"type": "tool_use"})
        whole = {"wire": "anthropic", "model": self._model, "blocks": answered(kept)}
        return encoded(whole).decode()


def _joined(blocks: list[_Block], kind: str) -> str:
    return mended("".join(piece for block in blocks if block.kind == kind for piece in block.text))


def _shown(block: _Block, piece: str) -> Delta:
    return Delta("text" if block.kind == "text" else "reasoning", mended(piece))


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _index(value: Any) -> int:
    return value if isinstance(value, int) else 0
