"""A person at a console's API, who can be patient with a cluster that is being killed."""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

DEADLINE_SECONDS = 45.0
_AGAIN_SECONDS = 0.1
_PAGE = 1000

Event = dict[str, Any]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Frame:
    """One frame of a stream. `seq` is None where it has no place in the log."""

    seq: int | None
    kind: str
    data: Event


class ClusterClient:
    """Asks the consoles in turn, one for each request, as a load balancer does."""

    def __init__(self, urls: Sequence[str], token: str) -> None:
        self._urls = itertools.cycle(urls)
        self.http = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {token}"},
            timeout=httpx.Timeout(20.0),
            limits=httpx.Limits(max_connections=None),
            trust_env=False,
            verify=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.http.aclose()

    async def get(self, path: str, **params: str | int) -> httpx.Response:
        """One attempt."""
        return await self.http.get(next(self._urls) + path, params=params)

    async def post(self, path: str, body: Event | None = None, *, key: str = "") -> httpx.Response:
        """One attempt; `key` is an Idempotency-Key."""
        headers = {"Idempotency-Key": key} if key else {}
        return await self.http.post(next(self._urls) + path, json=body or {}, headers=headers)

    async def insist(
        self, path: str, body: Event, *, key: str, seconds: float = DEADLINE_SECONDS
    ) -> httpx.Response:
        """The first answer below 500, however often the request must be repeated under its key."""
        deadline = time.monotonic() + seconds
        last: object = None
        while time.monotonic() < deadline:
            try:
                answer = await self.post(path, body, key=key)
                if answer.status_code < 500:
                    return answer
                last = answer.text
            except httpx.TransportError as error:
                last = error
            await asyncio.sleep(_AGAIN_SECONDS)
        raise TimeoutError(f"POST {path} was not answered within {seconds} s: {last!r}")

    async def create(self, message: str | None = None, **fields: Any) -> str:
        """A new workstream's id; it must be answered with 201 at once."""
        body = fields if message is None else {"message": message, **fields}
        answer = await self.post("/v1/workstreams", body)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    async def send(self, workstream: str, text: str, **fields: Any) -> int:
        """The sequence number of a message; it must be answered with 202 at once."""
        body = {"text": text, **fields}
        answer = await self.post(f"/v1/workstreams/{workstream}/messages", body)
        assert answer.status_code == 202, answer.text
        return int(answer.json()["seq"])

    async def resolve(self, workstream: str, behavior: str, **fields: Any) -> httpx.Response:
        """Answer the one approval that waits."""
        (waiting,) = (await self.view(workstream))["pending_approvals"]
        return await self.answer(workstream, waiting["request_id"], behavior, **fields)

    async def answer(
        self, workstream: str, request_id: str, behavior: str, **fields: Any
    ) -> httpx.Response:
        """Answer an approval, one attempt."""
        resolution = {"request_id": request_id, "behavior": behavior, **fields}
        body = {"resolutions": [resolution]}
        return await self.post(f"/v1/workstreams/{workstream}/approvals", body)

    async def order(self, workstream: str, what: str, **body: Any) -> Event:
        """cancel, close, fork, mode; what is answered."""
        answer = await self.post(f"/v1/workstreams/{workstream}/{what}", body)
        assert answer.is_success, answer.text
        return dict(answer.json())

    async def view(self, workstream: str) -> Event:
        """The workstream as it is."""
        answer = await self.get(f"/v1/workstreams/{workstream}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def views(self) -> list[Event]:
        """Every workstream as it is."""
        found: list[Event] = []
        cursor: dict[str, str | int] = {}
        while True:
            answer = await self.get("/v1/workstreams", limit=200, **cursor)
            assert answer.status_code == 200, answer.text
            page = answer.json()
            found += page["items"]
            if page["next_cursor"] is None:
                return found
            cursor = {"cursor": page["next_cursor"]}

    async def events(self, workstream: str, after: int = 0) -> list[Event]:
        """Every event behind this number, in the order of the pages."""
        found: list[Event] = []
        while True:
            path = f"/v1/workstreams/{workstream}/events"
            answer = await self.get(path, after=after, limit=_PAGE)
            assert answer.status_code == 200, answer.text
            page = answer.json()
            found += page["items"]
            if page["next_cursor"] is None:
                return found
            after = int(page["next_cursor"])

    async def wait_for_state(
        self, workstream: str, *states: str, seconds: float = DEADLINE_SECONDS
    ) -> Event:
        """The view as soon as its state is one of these and nothing but a person is waited for."""

        async def there() -> Event | None:
            view = await self.view(workstream)
            kinds = [wait["kind"] for wait in view["waiting_for"]]
            return view if view["state"] in states and "queue" not in kinds else None

        return await until(there, f"{workstream} is {' or '.join(states)}", seconds)

    async def wait_for_event(
        self,
        workstream: str,
        kind: str,
        wanted: Callable[[Event], bool] = lambda _: True,
        seconds: float = DEADLINE_SECONDS,
    ) -> Event:
        """The first such event, as soon as it is in the log."""

        async def there() -> Event | None:
            found = (
                event
                for event in await self.events(workstream)
                if event["kind"] == kind and wanted(event)
            )
            return next(found, None)

        return await until(there, f"{workstream} has {kind}", seconds)

    async def wait_until_all_rest(self, seconds: float) -> list[Event]:
        """Every view as soon as no workstream runs or waits for a node; patient with outages."""

        deadline = time.monotonic() + seconds
        while True:
            try:
                views = await self.views()
                busy = [view for view in views if view["state"] in ("running", "waiting")]
                if not busy:
                    return views
                last: object = busy
            except (httpx.TransportError, AssertionError) as error:
                last = error
            if time.monotonic() > deadline:
                raise TimeoutError(f"after {seconds} s not all workstreams rest: {last!r}")
            await asyncio.sleep(_AGAIN_SECONDS)

    async def stream(
        self, workstream: str, *, after: int = 0, last_event_id: int | None = None
    ) -> AsyncGenerator[Frame, None]:
        """Frames of one connection, until it ends. Close it (`aclosing`)."""
        headers = {"Accept": "text/event-stream"}
        if last_event_id is not None:
            headers["Last-Event-ID"] = str(last_event_id)
        url = f"{next(self._urls)}/v1/workstreams/{workstream}/events"
        timeout = httpx.Timeout(10.0, read=DEADLINE_SECONDS)
        async with self.http.stream(
            "GET", url, params={"after": after}, headers=headers, timeout=timeout
        ) as answer:
            if answer.status_code != 200:
                await answer.aread()
                answer.raise_for_status()
            fields: dict[str, str] = {}
            async for line in answer.aiter_lines():
                if line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                elif fields:
                    yield _frame(fields)
                    fields = {}

    async def follow(self, workstream: str, *, after: int = 0) -> AsyncGenerator[Frame, None]:
        """Frames for ever, taken up behind the last number whenever the connection ends."""
        while True:
            try:
                async with aclosing(self.stream(workstream, last_event_id=after)) as frames:
                    async for frame in frames:
                        after = frame.seq or after
                        yield frame
            except httpx.HTTPError:
                await asyncio.sleep(_AGAIN_SECONDS)


async def until(
    there: Callable[[], Awaitable[Found | None]], what: str, seconds: float = DEADLINE_SECONDS
) -> Found:
    """What `there` first gives that is not None, asked again and again."""
    deadline = time.monotonic() + seconds
    while (found := await there()) is None:
        if time.monotonic() > deadline:
            raise TimeoutError(f"after {seconds} s it is not so that {what}")
        await asyncio.sleep(_AGAIN_SECONDS / 2)
    return found


def _frame(fields: dict[str, str]) -> Frame:
    seq = int(fields["id"]) if "id" in fields else None
    return Frame(seq, fields.get("event", ""), json.loads(fields.get("data", "{}")))
