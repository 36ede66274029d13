"""Assembles an answer from the chunks of a chat completion (the openai wire)."""

from collections.abc import Iterator
from typing import Any

import msgspec

from redshank_node.providers.arguments import checked, parsed
from redshank_node.providers.encoding import decoded, mended
from redshank_node.providers.failures import Failures
from redshank_node.providers.provider import Answer, Delta, ModelCall
from redshank_node.providers.sources import Sources
from redshank_node.providers.sse import Event
from redshank_node.providers.thinking import ThinkFilter
from redshank_node.providers.transport import HELD_BYTES
from redshank_shared.domain.messages import Finish

_FINISHES: dict[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "content_filter": "refused",
    "refusal": "refused",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}
_REASONING_FIELDS = ("reasoning_content", "reasoning")


class _Call:
    """One call in the making."""

    def __init__(self, index: int | None, provider_id: str, tool: str) -> None:
        self.index = index
        self.provider_id = provider_id
        self.tool = tool
        self.pieces: list[str] = []

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    def is_whole(self) -> bool:
        return isinstance(parsed(self.arguments)[0], dict)


class Calls:
    """Sorts fragments of calls to their calls, by what servers really send (F40).

    An index is taken for a place in the answer; another id at the same place begins another call,
    and so does a new name behind whole arguments. A fragment that only repeats what is there adds
    nothing.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def __len__(self) -> int:
        return len(self._calls)

    def feed(self, fragment: Any) -> int:
        """Take one fragment of a `tool_calls` list; how many characters it added."""
        if not isinstance(fragment, dict):
            return 0
        function = fragment.get("function")
        function = function if isinstance(function, dict) else {}
        provider_id = _text(fragment.get("id"))
        tool = _text(function.get("name"))
        piece = function.get("arguments")
        if isinstance(piece, dict | list):
            piece = msgspec.json.encode(piece).decode()
        piece = _text(piece)
        index = fragment.get("index")
        call = self._place(index if isinstance(index, int) else None, provider_id, tool, piece)
        if call is None:
            return 0
        call.provider_id = call.provider_id or provider_id
        call.tool = call.tool or tool
        call.pieces.append(piece)
        return len(piece)

    def whole(self, *, cut: bool) -> tuple[ModelCall, ...]:
        """The calls in order. `cut`: the answer ended at its length, so the last one may be cut."""
        made = []
        for call in self._calls:
            if not call.tool and not call.arguments.strip():
                continue
            arguments, error = checked(call.arguments, cut=cut and call is self._calls[-1])
            if not call.tool:
                error = "This call names no tool, so it did not run. Send it again with the name."
            made.append(ModelCall(call.provider_id, call.tool, mended(arguments), error))
        return tuple(made)

    def _place(self, index: int | None, provider_id: str, tool: str, piece: str) -> _Call | None:
        """The call that a fragment belongs to; None if it repeats one that is whole."""
        call = self._at(index, provider_id)
        if call is None or (provider_id and call.provider_id not in ("", provider_id)):
            return self._new(index, provider_id, tool)
        if not tool or not call.tool:
            return call
        if tool != call.tool:
            return self._new(index, provider_id, tool)
        if piece.lstrip().startswith("{") and call.is_whole():
            if piece.strip() == call.arguments.strip():
                return None
            if call.arguments.strip() != "{}" or not provider_id:
                return self._new(index, provider_id, tool)
        return call

    def _at(self, index: int | None, provider_id: str) -> _Call | None:
        if index is None:
            same = [call for call in self._calls if provider_id == call.provider_id != ""]
            candidates = same or self._calls
            return candidates[-1] if candidates else None
        return next((call for call in reversed(self._calls) if call.index == index), None)

    def _new(self, index: int | None, provider_id: str, tool: str) -> _Call:
        call = _Call(index, provider_id, tool)
        self._calls.append(call)
        return call


class ChunkAnswer:
    """One answer in the making. `finished`: the model said why it ends; `done`: the stream did."""

    def __init__(self, failures: Failures, model: str) -> None:
        self.finished = False
        self.done = False
        self._failures = failures
        self._model = model
        self._filter = ThinkFilter()
        self._reasoning: list[str] = []
        self._reasoning_field = ""
        self._calls = Calls()
        self._reason = ""
        self._refused = False
        self._tokens = (0, 0, 0)
        self._held = 0
        self._sources = Sources()

    def feed(self, event: Event) -> Iterator[Delta]:
        """What this event adds to show. Raises ModelFailed where it carries an error."""
        data = event.data.strip()
        if not data or self.done:
            return
        if data == b"[DONE]":
            self.done = True
            return
        if event.name == "page":
            raise self._failures.page(data)
        try:
            chunk = decoded(data)
        except ValueError as error:
            if not self.finished:
                raise self._failures.malformed(f"a chunk that is not JSON ({error})") from None
            return
        if event.name == "error" or _is_error(chunk, whole=event.name == "json"):
            raise self._failures.said(chunk)
        if isinstance(chunk, dict):
            yield from self._chunk(chunk)
            self.done = event.name == "json"

    def answer(self) -> Answer:
        """The whole answer. Raises ModelFailed if the stream was cut, or brought nothing."""
        if not self.finished and not self.done:
            raise self._failures.cut()
        _, text, leaked = self._filter.close()
        text = mended(text) if text.strip() else ""
        reasoning = mended("".join(self._reasoning) or leaked)
        reason = "refusal" if self._refused else self._reason
        finish: Finish = _FINISHES.get(reason, "stop")
        calls = self._calls.whole(cut=finish == "length")
        if not text and not calls and finish != "refused":
            raise self._failures.empty(length=finish == "length")
        if finish in ("stop", "tool_calls"):
            finish = "tool_calls" if calls else "stop"
        spent_in, spent_out, cached = self._tokens
        return Answer(
            text=self._sources.behind(text),
            finish=finish,
            calls=calls,
            reasoning=reasoning,
            opaque=self._opaque(reasoning) if calls else "",
            input_tokens=spent_in,
            output_tokens=spent_out,
            cached_tokens=cached,
        )

    def _chunk(self, chunk: dict[str, Any]) -> Iterator[Delta]:
        if isinstance(chunk.get("usage"), dict):
            self._tokens = _tokens(chunk["usage"]) or self._tokens
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index", 0) in (0, None):
                yield from self._choice(choice)
        if self._held > HELD_BYTES:
            raise self._failures.too_large(HELD_BYTES)

    def _choice(self, choice: dict[str, Any]) -> Iterator[Delta]:
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            yield from self._delta(delta)
        reason = choice.get("finish_reason")
        if reason == "error":
            raise self._failures.said(choice.get("error") or "it finished with an error")
        if reason and isinstance(reason, str):
            self._reason = reason
            self.finished = True

    def _delta(self, delta: dict[str, Any]) -> Iterator[Delta]:
        for field in _REASONING_FIELDS:
            # vLLM sends the same text under both names for a while: one of them counts.
            if (piece := _text(delta.get(field))) and self._reasoning_field in ("", field):
                self._reasoning_field = field
                yield from self._think(piece)
                break
        for channel, piece in _contents(delta.get("content")):
            if channel == "reasoning":
                yield from self._think(piece)
            else:
                yield from self._speak(piece)
        if refusal := _text(delta.get("refusal")):
            self._refused = True
            yield from self._speak(refusal)
        annotations = delta.get("annotations")
        for annotation in annotations if isinstance(annotations, list) else ():
            self._sources.add(annotation)
        fragments = delta.get("tool_calls")
        for fragment in fragments if isinstance(fragments, list) else ():
            self._held += self._calls.feed(fragment)

    def _think(self, piece: str) -> Iterator[Delta]:
        self._held += len(piece)
        self._reasoning.append(piece)
        yield Delta("reasoning", mended(piece))

    def _speak(self, piece: str) -> Iterator[Delta]:
        self._held += len(piece)
        for delta in self._filter.feed(piece):
            yield Delta(delta.channel, mended(delta.text))

    def _opaque(self, reasoning: str) -> str:
        """Thinking that some servers demand back while the turn goes on."""
        if not reasoning or not self._reasoning_field:
            return ""
        block = {
            "wire": "openai",
            "model": self._model,
            "field": self._reasoning_field,
            "text": reasoning,
        }
        return msgspec.json.encode(block).decode()


def _is_error(chunk: Any, *, whole: bool) -> bool:
    if not isinstance(chunk, dict):
        return whole or isinstance(chunk, list)
    if whole and "choices" not in chunk:
        return True
    return bool(chunk.get("error")) or chunk.get("object") == "error"


def _contents(content: Any) -> Iterator[tuple[str, str]]:
    """Pieces of text by channel: plain text, or the typed parts that some servers send."""
    if isinstance(content, str):
        if content:
            yield "text", content
        return
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict):
            continue
        if part.get("type") == "thinking":
            for _, piece in _contents(part.get("thinking")):
                yield "reasoning", piece
        elif piece := _text(part.get("text")):
            yield "text", piece


def _tokens(usage: dict[str, Any]) -> tuple[int, int, int] | None:
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    cached = cached or usage.get("prompt_cache_hit_tokens")
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
    spent_in, spent_out, kept = (count if isinstance(count, int) else 0 for count in counts)
    return (spent_in, spent_out, kept) if spent_in or spent_out else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
