"""The console over HTTP: one method a call of its API."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx
import msgspec

from redshank_shared.client.problems import error_from, unreachable
from redshank_shared.client.stream import Frame, frames, recorded_from
from redshank_shared.client.views import (
    ApprovalView,
    AuditView,
    Health,
    NewSchedule,
    NewWorkstream,
    NodeView,
    Overview,
    Page,
    Posted,
    Resolution,
    ScheduleView,
    SigninLink,
    WorkstreamView,
)
from redshank_shared.domain.events import Recorded

Answer = TypeVar("Answer")
Query = Mapping[str, str | int]
# A stream that says nothing for three pings of the console is dead.
STREAM_SILENCE_SECONDS = 50.0


def new_key() -> str:
    """A fresh idempotency key."""
    return secrets.token_urlsafe(18)


class ConsoleClient:
    """Calls one console with one token. Close it, or use it as a context.

    Every method raises the RedshankError that the console's refusal stands for, with its detail;
    Unavailable with code `unreachable` where nothing answers. A write carries an idempotency key,
    so that it may be tried again after a lost connection without being done twice.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_seconds: float = 30.0,
        key: Callable[[], str] = new_key,
    ) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.url = url.rstrip("/")
        self._key = key
        self._http = httpx.Client(
            base_url=self.url,
            headers=headers,
            timeout=httpx.Timeout(timeout_seconds, connect=5.0),
            transport=httpx.HTTPTransport(retries=1),
            trust_env=False,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the connections go."""
        self._http.close()

    def health(self) -> Health:
        """What the console says of itself; needs no token."""
        return self._get("/health", Health)

    def overview(self) -> Overview:
        """The cluster in figures."""
        return self._get("/v1/cluster/overview", Overview)

    def nodes(self, query: Query) -> Page[NodeView]:
        """A page of the nodes, by name."""
        return self._get("/v1/cluster/nodes", Page[NodeView], query)

    def content(self, path: str) -> bytes:
        """What the console answers there, as it comes."""
        with self._opened(path, {}, 30.0) as answer:
            return answer.read()

    def create(self, new: NewWorkstream) -> WorkstreamView:
        """A new workstream, with its first message if one is given."""
        return self._post("/v1/workstreams", new, WorkstreamView)

    def workstreams(self, query: Query) -> Page[WorkstreamView]:
        """A page of the workstreams that match `state, owner, node, label, q, waiting_for`."""
        return self._get("/v1/workstreams", Page[WorkstreamView], query)

    def workstream(self, workstream_id: str) -> WorkstreamView:
        """One workstream as it stands."""
        return self._get(f"/v1/workstreams/{workstream_id}", WorkstreamView)

    def send(self, workstream_id: str, text: str, *, when: str = "next") -> int:
        """Post a message; its number in the log, durable once answered."""
        body = {"text": text, "when": when}
        return self._post(f"/v1/workstreams/{workstream_id}/messages", body, Posted).seq

    def resolve(self, workstream_id: str, resolutions: tuple[Resolution, ...]) -> WorkstreamView:
        """Answer approvals, all or none; Conflict says who was first."""
        path = f"/v1/workstreams/{workstream_id}/approvals"
        return self._post(path, {"resolutions": resolutions}, WorkstreamView)

    def act(
        self, workstream_id: str, action: str, body: Mapping[str, Any] | None = None
    ) -> WorkstreamView:
        """`cancel`, `close`, `retry`, `fork` with `after`, `mode` with `mode`, `compact`."""
        return self._post(f"/v1/workstreams/{workstream_id}/{action}", body or {}, WorkstreamView)

    def audits(self, workstream_id: str, query: Query) -> Page[AuditView]:
        """A page of the decisions on a workstream's calls, in order."""
        path = f"/v1/workstreams/{workstream_id}/permission-audits"
        return self._get(path, Page[AuditView], query)

    def approvals(self, query: Query) -> Page[ApprovalView]:
        """A page of everything that waits for a person's word, oldest first."""
        return self._get("/v1/approvals", Page[ApprovalView], query)

    def schedules(self, query: Query) -> Page[ScheduleView]:
        """A page of the schedules, those of one `workstream` or all, the newest first."""
        return self._get("/v1/schedules", Page[ScheduleView], query)

    def schedule(self, schedule_id: str) -> ScheduleView:
        """One schedule with its last runs."""
        return self._get(f"/v1/schedules/{schedule_id}", ScheduleView)

    def create_schedule(self, new: NewSchedule) -> ScheduleView:
        """A new schedule; Invalid names the field, Conflict what stands in the way."""
        return self._post("/v1/schedules", new, ScheduleView)

    def change_schedule(self, schedule_id: str, change: str) -> ScheduleView:
        """`pause`, `resume`, `cancel` or `trigger`; Conflict where it is over."""
        return self._post(f"/v1/schedules/{schedule_id}/{change}", {}, ScheduleView)

    def signin_link(self) -> SigninLink:
        """A link that signs one browser in, once."""
        return self._post("/v1/signin-links", {}, SigninLink)

    def export(self, workstream_id: str) -> Iterator[bytes]:
        """The whole log of a workstream as JSON lines, in chunks."""
        with self._opened(f"/v1/workstreams/{workstream_id}/export", {}, 30.0) as answer:
            yield from answer.iter_bytes()

    def frames_once(self, workstream_id: str, after: int) -> Iterator[Frame]:
        """The frames after a number, live, until the connection ends.

        Raises Unavailable when it breaks: ask again after the last number that came.
        """
        headers = {"Accept": "text/event-stream"}
        path = f"/v1/workstreams/{workstream_id}/events?after={after}"
        try:
            with self._opened(path, headers, STREAM_SILENCE_SECONDS) as answer:
                yield from frames(answer.iter_lines())
        except httpx.TransportError as error:
            raise unreachable(self.url, _why(error)) from error

    def recorded(self, workstream_id: str, after: int, limit: int = 200) -> Page[Recorded]:
        """A page of the log after a number."""
        path = f"/v1/workstreams/{workstream_id}/events"
        page = self._get(path, Page[msgspec.Raw], {"after": after, "limit": limit})
        items = tuple(recorded_from(bytes(item)) for item in page.items)
        return Page(items, page.next_cursor, page.total)

    @contextmanager
    def _opened(
        self, path: str, headers: Mapping[str, str], silence_seconds: float
    ) -> Iterator[httpx.Response]:
        timeout = httpx.Timeout(30.0, connect=5.0, read=silence_seconds)
        request = self._http.build_request("GET", path, headers=dict(headers), timeout=timeout)
        answer = self._send(request, stream=True)
        try:
            yield answer
        finally:
            answer.close()

    def _get(self, path: str, kind: type[Answer], query: Query | None = None) -> Answer:
        return self._ask(self._http.build_request("GET", path, params=dict(query or {})), kind)

    def _post(self, path: str, body: object, kind: type[Answer]) -> Answer:
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": self._key(),
            "X-Redshank": "1",
        }
        content = msgspec.json.encode(body)
        return self._ask(
            self._http.build_request("POST", path, content=content, headers=headers), kind
        )

    def _ask(self, request: httpx.Request, kind: type[Answer]) -> Answer:
        answer = self._send(request, stream=False)
        try:
            return msgspec.json.decode(answer.content, type=kind)
        except msgspec.DecodeError as error:
            raise unreachable(self.url, "what answers is not a console") from error

    def _send(self, request: httpx.Request, *, stream: bool) -> httpx.Response:
        # A connection that breaks is tried once more: a write carries its idempotency key.
        for last in (False, True):
            try:
                answer = self._http.send(request, stream=stream)
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError) as error:
                if last:
                    raise unreachable(self.url, _why(error)) from error
                continue
            except (httpx.TransportError, httpx.InvalidURL) as error:
                raise unreachable(self.url, _why(error)) from error
            break
        if answer.is_success:
            return answer
        body = answer.read()
        answer.close()
        raise error_from(answer.status_code, body)


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__
