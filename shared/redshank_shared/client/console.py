"""The console over HTTP: one method a call of its API."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from redshank_shared.client.problems import error_from, unreachable
from redshank_shared.client.stream import Frame, frames, recorded_from
from redshank_shared.client.views import (
    ApprovalView,
    AuditView,
    DecidedView,
    Health,
    NewAnswer,
    NewSchedule,
    NewWorkstream,
    NodeView,
    Overview,
    Page,
    Posted,
    QuestionView,
    RecordView,
    Resolution,
    Rotation,
    ScheduleView,
    SecretView,
    SigninLink,
    ToolLimitsView,
    WatchHook,
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

    def decided_approvals(self, query: Query) -> Page[DecidedView]:
        """A page of what waits no more, decided last first."""
        return self._get("/v1/approvals/decided", Page[DecidedView], query)

    def questions(self, query: Query) -> Page[QuestionView]:
        """A page of everything that agents ask, oldest first."""
        return self._get("/v1/questions", Page[QuestionView], query)

    def answer(self, workstream_id: str, answers: tuple[NewAnswer, ...]) -> WorkstreamView:
        """Answer the questions of one request together; Conflict says who was first."""
        path = f"/v1/workstreams/{workstream_id}/questions"
        return self._post(path, {"answers": answers}, WorkstreamView)

    def cancel_question(self, workstream_id: str, request_id: str) -> WorkstreamView:
        """Let the agent go on without an answer."""
        path = f"/v1/workstreams/{workstream_id}/questions/{request_id}/cancel"
        return self._post(path, {}, WorkstreamView)

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

    def secrets(self, query: Query) -> Page[SecretView]:
        """A page of the slots by name, never with a value."""
        return self._get("/v1/secrets", Page[SecretView], query)

    def set_secret(self, slot: str, value: str) -> SecretView:
        """Fill a slot; Invalid says what is wrong with its name or its value."""
        path = f"/v1/secrets/{quote(slot, safe='')}"
        return self._write("PUT", path, {"value": value}, SecretView)

    def revoke_secret(self, slot: str) -> SecretView:
        """Erase a slot's value; NotFound where none was ever set."""
        return self._post(f"/v1/secrets/{quote(slot, safe='')}/revoke", {}, SecretView)

    def rotate_secrets(self) -> Rotation:
        """Seal every value anew under the active master key."""
        return self._post("/v1/secrets/rotate", {}, Rotation)

    def tool_limits(self) -> ToolLimitsView:
        """The limits that calls run under."""
        return self._get("/v1/tool-limits", ToolLimitsView)

    def set_tool_limits(
        self, limits: Mapping[str, Any], expected_revision: int | None = None
    ) -> ToolLimitsView:
        """Change the named ones; Conflict where the revision has moved, Invalid names a limit."""
        body: dict[str, Any] = {"limits": limits}
        if expected_revision is not None:
            body["expected_revision"] = expected_revision
        return self._write("PUT", "/v1/tool-limits", body, ToolLimitsView)

    def make_watch_hook(self, schedule_id: str) -> WatchHook:
        """An address to push this watch, in place of the one before."""
        return self._post(f"/v1/schedules/{schedule_id}/hook", {}, WatchHook)

    def revoke_watch_hook(self, schedule_id: str) -> None:
        """Nobody may push this watch any more."""
        path = f"/v1/schedules/{schedule_id}/hook"
        self._send(self._http.build_request("DELETE", path), stream=False)

    def ledger(self, query: Query) -> Page[RecordView]:
        """A page of the records of outside effects, of one `workstream` or of all."""
        return self._get("/v1/ledger", Page[RecordView], query)

    def ledger_lines(self, workstream_id: str) -> Iterator[str]:
        """The ledger of one workstream, or of all, as the lines that a check reads."""
        query = f"?workstream={workstream_id}" if workstream_id else ""
        with self._opened(f"/v1/ledger/export{query}", {}, 60.0) as answer:
            yield from answer.iter_lines()

    def signin_link(self) -> SigninLink:
        """A link that signs one browser in, once."""
        return self._post("/v1/signin-links", {}, SigninLink)

    def read(self, path: str, kind: type[Answer], query: Query | None = None) -> Answer:
        """What the console has there."""
        return self._get(path, kind, query)

    def write(self, method: str, path: str, body: object, kind: type[Answer]) -> Answer:
        """The console's answer to this body."""
        return self._write(method, path, body, kind)

    def delete(self, path: str) -> None:
        """Take away what is there."""
        headers = {"Idempotency-Key": self._key(), "X-Redshank": "1"}
        self._send(self._http.build_request("DELETE", path, headers=headers), stream=False)

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
        return self._write("POST", path, body, kind)

    def _write(self, method: str, path: str, body: object, kind: type[Answer]) -> Answer:
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": self._key(),
            "X-Redshank": "1",
        }
        content = msgspec.json.encode(body)
        return self._ask(
            self._http.build_request(method, path, content=content, headers=headers), kind
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
