"""Assembles an answer from the events of a response's stream (the responses wire)."""

from collections.abc import Iterator
from typing import Any

from redshank_node.providers.arguments import checked
from redshank_node.providers.encoding import decoded, encoded, mended
from redshank_node.providers.failures import Failures
from redshank_node.providers.hosted_search import answered, found_in
from redshank_node.providers.provider import Answer, Delta, ModelCall
from redshank_node.providers.sources import Sources
from redshank_node.providers.sse import Event
from redshank_node.providers.transport import HELD_BYTES
from redshank_shared.domain.messages import Finish

WIRE = "responses"
_INCOMPLETE: dict[str, Finish] = {"max_output_tokens": "length", "content_filter": "refused"}
_TEXT = ("response.output_text.delta", "response.refusal.delta")
_THINKING = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_ENDS = ("response.completed", "response.incomplete", "response.failed")


class ResponseAnswer:
    """One answer in the making. `done`: the response has ended, whole or not."""

    def __init__(self, failures: Failures, model: str) -> None:
        self.done = False
        self._failures = failures
        self._model = model
        self._items: dict[int, dict[str, Any]] = {}
        self._incomplete = ""
        self._usage: dict[str, Any] = {}
        self._held = 0

    def feed(self, event: Event) -> Iterator[Delta]:
        """What this event adds to show. Raises ModelFailed where it carries an error."""
        data = event.data.strip()
        if not data or self.done or data == b"[DONE]":
            return
        if event.name == "page":
            raise self._failures.page(data)
        try:
            value = decoded(data)
        except ValueError as error:
            raise self._failures.malformed(f"an event that is not JSON ({error})") from None
        if not isinstance(value, dict):
            raise self._failures.said(value)
        if event.name == "json":
            yield from self._whole_response(value)
        else:
            yield from self._event(str(value.get("type") or event.name), value)
        if self._held > HELD_BYTES:
            raise self._failures.too_large(HELD_BYTES)

    def answer(self) -> Answer:
        """The whole answer. Raises ModelFailed if the stream was cut, or brought nothing."""
        if not self.done:
            raise self._failures.cut()
        items = [self._items[place] for place in sorted(self._items)]
        said = [part for item in items for part in _parts(item)]
        finish = _INCOMPLETE.get(self._incomplete, "stop")
        calls = _calls(items, cut=finish == "length")
        text = mended("".join(_text(part.get("text") or part.get("refusal")) for part in said))
        text = text if text.strip() else ""
        if any(part.get("type") == "refusal" for part in said):
            finish = "refused"
        if not text and not calls and finish != "refused":
            raise self._failures.empty(length=finish == "length")
        return Answer(
            text=_sources(said).behind(text),
            finish="tool_calls" if calls and finish == "stop" else finish,
            calls=calls,
            reasoning=mended("\n\n".join(_thoughts(items))),
            opaque=self._opaque(items),
            found_tools=found_in(items),
            input_tokens=_count(self._usage, "input_tokens"),
            output_tokens=_count(self._usage, "output_tokens"),
            cached_tokens=_count(_dict(self._usage.get("input_tokens_details")), "cached_tokens"),
        )

    def _event(self, kind: str, value: dict[str, Any]) -> Iterator[Delta]:
        if kind == "error":
            raise self._failures.said(value)
        if kind in _ENDS:
            self._end(_dict(value.get("response")))
        elif kind == "response.output_item.done":
            self._take(value.get("output_index"), value.get("item"))
        elif piece := _text(value.get("delta")):
            self._held += len(piece)
            if kind in _TEXT:
                yield Delta("text", mended(piece))
            elif kind in _THINKING:
                yield Delta("reasoning", mended(piece))

    def _whole_response(self, value: dict[str, Any]) -> Iterator[Delta]:
        """A server that does not stream answers with the response itself."""
        if "output" not in value:
            raise self._failures.said(value)
        self._end(value)
        for item in self._items.values():
            for part in _parts(item):
                if text := _text(part.get("text")):
                    yield Delta("text", mended(text))

    def _end(self, response: dict[str, Any]) -> None:
        if response.get("status") == "failed" or response.get("error"):
            raise self._failures.said({"error": response.get("error") or "it failed"})
        self._usage = _dict(response.get("usage"))
        reason = _dict(response.get("incomplete_details")).get("reason")
        self._incomplete = _text(reason)
        output = response.get("output")
        for place, item in enumerate(output if isinstance(output, list) else ()):
            self._take(place, item)
        self.done = True

    def _take(self, place: Any, item: Any) -> None:
        if isinstance(place, int) and isinstance(item, dict):
            self._items[place] = item

    def _opaque(self, items: list[dict[str, Any]]) -> str:
        """The answer's own order of items, what is neither text nor a call as it came; "" where
        there is no such thing.
        """
        kept = [_kept(item) for item in answered(items)]
        if all(item.get("type") == "message" or item == _PLACE for item in kept):
            return ""
        return encoded({"wire": WIRE, "model": self._model, "items": kept}).decode()


_PLACE = {"type": "function_call"}


def _kept(item: dict[str, Any]) -> dict[str, Any]:
    """A call keeps its place alone, with the namespace that it was found in: its arguments may have
    been changed by a person since.
    """
    if item.get("type") != "function_call":
        return item
    namespace = _text(item.get("namespace"))
    return {**_PLACE, "namespace": namespace} if namespace else dict(_PLACE)


def _calls(items: list[dict[str, Any]], *, cut: bool) -> tuple[ModelCall, ...]:
    calls = []
    for item in items:
        if item.get("type") != "function_call":
            continue
        is_cut = item.get("status") == "incomplete" or (cut and item is items[-1])
        arguments, error = checked(_text(item.get("arguments")), cut=is_cut)
        tool = _text(item.get("name"))
        if not tool:
            error = "This call names no tool, so it did not run. Send it with the name."
        calls.append(ModelCall(_text(item.get("call_id")), tool, mended(arguments), error))
    return tuple(calls)


def _parts(item: dict[str, Any]) -> list[dict[str, Any]]:
    content = item.get("content") if item.get("type") == "message" else None
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _thoughts(items: list[dict[str, Any]]) -> Iterator[str]:
    for item in items:
        if item.get("type") == "reasoning":
            for parts in (item.get("summary"), item.get("content")):
                for part in parts if isinstance(parts, list) else ():
                    if text := _text(_dict(part).get("text")):
                        yield text


def _sources(parts: list[dict[str, Any]]) -> Sources:
    sources = Sources()
    for part in parts:
        annotations = part.get("annotations")
        for annotation in annotations if isinstance(annotations, list) else ():
            sources.add(annotation)
    return sources


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _count(usage: dict[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) else 0
