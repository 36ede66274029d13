"""Watches what goes over one connection: only what was asked for, only so fast, gets through."""

import asyncio
from collections.abc import Callable
from typing import Any

from redshank_node.mcp_client.connecting import Signals
from redshank_node.mcp_client.verdicts import Verdicts

LIST_KEYS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
_LIST_CHANGED = frozenset(
    f"notifications/{what}/list_changed" for what in ("tools", "resources", "prompts")
)
_PROGRESS = "notifications/progress"
# Server's logs go nowhere: nobody asked for them.
_UNHEARD = _LIST_CHANGED | {"notifications/message"}
# Where a result has its parts; the library judges them one by one, twice.
_PARTS = {"tools/call": "content", "resources/read": "contents", "prompts/get": "messages"}
_MOST_PARTS = 1000
_ASIDE = "aside"
_MOST_ASIDE = 1000
_SLICE = 64
_MOST_UNASKED_A_SECOND = 2000
_SHOWN = 160


class Traffic:
    """The messages of one connection, as plain values (`id`, `method`, `result`).

    Pages of lists are taken out of the answers, for `listing`, before the library judges them: one
    tool that it does not take would cost the whole page, thousands of them the loop. `for_library`
    says which items of a list the library must know all the same.
    """

    def __init__(
        self, signals: Signals, for_library: Callable[[str, list[Any]], list[Any]] | None = None
    ) -> None:
        self._signals = signals
        self.verdicts = Verdicts()
        self._for_library = for_library
        self._asked: dict[int | str, str] = {}
        self._aside: dict[int, Any] = {}
        self._asides = 0
        self.pages: dict[str, dict[str, Any]] = {}
        # Signs of life: answers, late ones too, and how far requests are.
        self.answers = 0
        # Nothing that is sent now reaches the server.
        self.is_closed = False
        self._taken = 0
        self._unasked = 0
        self._second_ends = 0.0
        self._loop = asyncio.get_running_loop()

    def sent(self, method: str, request_id: int | str | None, params: Any) -> None:
        """A message goes out; `request_id` is None for a notification."""
        if request_id is not None:
            self._asked[request_id] = method
        elif method == "notifications/cancelled" and isinstance(params, dict):
            self._asked.pop(params.get("requestId", ""), None)

    def forget(self, request_id: int | str) -> None:
        """No answer to this is awaited any more."""
        self._asked.pop(request_id, None)

    def is_open(self, request_id: int | str) -> bool:
        """Whether an answer to this is awaited."""
        return request_id in self._asked

    def heard(self, method: str) -> bool:
        """Whether a notification or request of the server goes on to the library."""
        self._unasked += 1
        self.answers += method == _PROGRESS
        if method in _LIST_CHANGED:
            # Only noted here: what it leads to waits for answers, which come this way (F37).
            self._signals.list_changed()
        return method not in _UNHEARD

    def answered(self, request_id: Any, result: dict[str, Any] | None) -> dict[str, Any] | None:
        """The result that goes on to the library, None for an answer to nothing that was asked.
        An error has no result: an empty one goes on.
        """
        self.answers += 1
        method = self._asked.pop(request_id, None) if _is_id(request_id) else None
        if method is None:
            self._unasked += 1
            self._signals.warned(f"dropped an answer to nothing that was asked: {request_id!r:.40}")
            return None
        if result is None:
            return {}
        if method in _PARTS:
            return self._light(result, _PARTS[method])
        key = LIST_KEYS.get(method)
        if key is None:
            return result
        self.pages[method] = result
        items = result.get(key)
        if self._for_library is None or not isinstance(items, list):
            return {**result, key: []}
        return {**result, key: self._for_library(method, items)}

    def _light(self, result: dict[str, Any], parts: str) -> dict[str, Any]:
        """The result so that the library does not walk through what is large in it."""
        light = {name: value for name, value in result.items() if name != "_meta"}
        items = light.get(parts)
        if isinstance(items, list) and len(items) > _MOST_PARTS:
            light[parts] = items[:_MOST_PARTS]
            self._signals.warned(f"an answer of {len(items)} parts: {_MOST_PARTS} of them are kept")
        if light.get("structuredContent") is not None:
            self._asides += 1
            # What nobody takes belongs to a call that was cancelled meanwhile.
            self._aside.pop(self._asides - _MOST_ASIDE, None)
            self._aside[self._asides] = light["structuredContent"]
            light["structuredContent"] = {_ASIDE: self._asides}
        return light

    def set_aside(self, structured: Any) -> Any:
        """The structured content as the server sent it, by what stands in its place; once."""
        return self._aside.pop(structured[_ASIDE], None) if isinstance(structured, dict) else None

    def junk(self, why: str, line: bytes | str = b"") -> None:
        """Something came that is no message."""
        text = line.decode(errors="replace") if isinstance(line, bytes) else line
        shown = text if text.isprintable() else text.encode("unicode_escape").decode()
        self._signals.warned(f"skipped {why}: {shown[:_SHOWN]}" if shown else f"skipped {why}")

    async def breathe(self) -> None:
        """After each message: let others run; where more than 2,000 of them a second were not
        asked for, leave the rest where it is for that second (F67).
        """
        self._taken += 1
        if self._taken % _SLICE:
            return
        now = self._loop.time()
        if now >= self._second_ends:
            self._second_ends, self._unasked = now + 1.0, 0
        elif self._unasked > _MOST_UNASKED_A_SECOND:
            self._signals.warned("sends more than 2,000 messages a second: it is read slower")
            await asyncio.sleep(self._second_ends - now)
        await asyncio.sleep(0)


def _is_id(value: Any) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool)
