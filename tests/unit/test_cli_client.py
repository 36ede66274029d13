"""The console's client against a small HTTP server that answers as a console does."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

import pytest

from redshank_console.cli import finding
from redshank_shared.client.console import ConsoleClient
from redshank_shared.client.following import follow
from redshank_shared.client.problems import UNREACHABLE
from redshank_shared.client.stream import Notice, Streamed, frames
from redshank_shared.client.views import NewWorkstream, Resolution
from redshank_shared.domain.errors import (
    Conflict,
    Invalid,
    NotAllowed,
    NotFound,
    RedshankError,
    Unauthenticated,
    Unavailable,
)
from redshank_shared.domain.events import MessagePosted, Recorded, StateChanged, Unknown

AT = "2026-11-30T08:00:00.000Z"
VIEW = {"id": "ws_1", "state": "idle", "name": "n", "of_a_newer_console": 1}


class Script:
    """What the server answers next, what it was asked."""

    def __init__(self) -> None:
        self.answers: list[Callable[[BaseHTTPRequestHandler], None]] = []
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []

    def json(self, status: int, value: object, kind: str = "application/json") -> None:
        body = json.dumps(value).encode()
        self.answers.append(lambda handler: _answer(handler, status, kind, body))

    def stream(self, text: str, promised: int | None = None) -> None:
        """A stream that ends; cut off where it promises more than it sends."""
        body = text.encode()
        self.answers.append(
            lambda handler: _answer(handler, 200, "text/event-stream", body, promised)
        )

    def broken(self) -> None:
        self.answers.append(lambda handler: handler.connection.close())


def _answer(
    handler: BaseHTTPRequestHandler, status: int, kind: str, body: bytes, size: int | None = None
) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body) if size is None else size))
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.wfile.write(body)


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def client(script: Script) -> Iterator[ConsoleClient]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            asked = (self.command, self.path, dict(self.headers), self.rfile.read(size))
            script.asked.append(asked)
            script.answers.pop(0)(self)

        do_POST = do_GET  # noqa: N815 - the library's name

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    numbers = count(1)
    url = f"http://127.0.0.1:{server.server_port}"
    with ConsoleClient(url, "rs_t", key=lambda: f"key-{next(numbers)}") as made:
        yield made
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_write_carries_the_token_and_a_key(client: ConsoleClient, script: Script) -> None:
    script.json(201, VIEW)
    view = client.create(NewWorkstream(name="n", message="hi"))
    ((method, path, headers, body),) = script.asked
    assert (view.id, view.state) == ("ws_1", "idle")
    assert (method, path) == ("POST", "/v1/workstreams")
    assert headers["Authorization"] == "Bearer rs_t"
    assert headers["Idempotency-Key"] == "key-1"
    assert json.loads(body) == {"name": "n", "message": "hi"}


def test_a_write_over_a_broken_connection_is_tried_again_with_the_same_key(
    client: ConsoleClient, script: Script
) -> None:
    script.broken()
    script.json(202, {"seq": 7})
    assert client.send("ws_1", "hi") == 7
    assert [headers["Idempotency-Key"] for _, _, headers, _ in script.asked] == ["key-1", "key-1"]


def test_an_approval_is_resolved_as_the_contract_says(
    client: ConsoleClient, script: Script
) -> None:
    script.json(200, VIEW)
    client.resolve("ws_1", (Resolution("ap_1", "deny", reason="no"),))
    _, path, _, body = script.asked[0]
    assert path == "/v1/workstreams/ws_1/approvals"
    wanted = {"resolutions": [{"request_id": "ap_1", "behavior": "deny", "reason": "no"}]}
    assert json.loads(body) == wanted


@pytest.mark.req("B-1", "B-30")
def test_one_of_very_many_approvals_is_found_by_its_id(
    client: ConsoleClient, script: Script
) -> None:
    def waiting(number: int) -> dict[str, object]:
        return {
            "request_id": f"apr_{number:04}",
            "call_id": "cl_1",
            "workstream_id": f"ws_{number}",
            "tool": "bash",
            "requested_at": "2026-11-30T08:15:00.250Z",
            "preview": {"title": "ls"},
        }

    first = {"items": [waiting(number) for number in range(200)], "next_cursor": "more"}
    script.json(200, {**first, "total": 201})
    script.json(200, {"items": [waiting(200)], "next_cursor": None, "total": 201})
    workstream, found = finding.approval(client, "apr_0200")
    assert (workstream, found.request_id) == ("ws_200", "apr_0200")
    assert "cursor=more" in script.asked[1][1]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Invalid),
        (401, Unauthenticated),
        (403, NotAllowed),
        (404, NotFound),
        (409, Conflict),
        (413, Invalid),
        (422, Invalid),
        (503, Unavailable),
    ],
)
def test_a_refusal_becomes_its_error_with_the_consoles_own_words(
    client: ConsoleClient, script: Script, status: int, kind: type[RedshankError]
) -> None:
    problem = {"status": status, "code": "some_code", "detail": "do this", "field": "name"}
    script.json(status, problem, "application/problem+json")
    with pytest.raises(kind) as caught:
        client.workstream("ws_1")
    error = caught.value
    assert (error.detail, error.code, error.field) == ("do this", "some_code", "name")


def test_an_answer_that_is_no_consoles_is_told_apart(client: ConsoleClient, script: Script) -> None:
    script.json(200, ["not", "a", "view"])
    with pytest.raises(Unavailable, match="what answers is not a console"):
        client.workstream("ws_1")


def test_nothing_at_the_address_says_how_to_start_one() -> None:
    with (
        ConsoleClient("http://127.0.0.1:9", "rs_t") as client,
        pytest.raises(Unavailable, match="redshank up") as caught,
    ):
        client.workstream("ws_1")
    assert caught.value.code == UNREACHABLE


def test_a_page_of_the_log_is_facts_in_their_places(client: ConsoleClient, script: Script) -> None:
    items = [
        {"seq": 1, "at": AT, "kind": "message.user", "text": "hi"},
        {"seq": 2, "at": AT, "kind": "of.tomorrow", "x": 1},
    ]
    script.json(200, {"items": items, "next_cursor": None, "total": 2})
    first, second = client.recorded("ws_1", 0).items
    assert first == Recorded(1, AT, MessagePosted("hi"))
    assert isinstance(second.fact, Unknown)


def event(seq: int, text: str) -> str:
    data = json.dumps({"seq": seq, "at": AT, "kind": "message.user", "text": text})
    return f"id: {seq}\nevent: message.user\ndata: {data}\n\n"


@pytest.mark.fault("F-38")
def test_following_across_broken_streams_brings_each_fact_once(
    client: ConsoleClient, script: Script
) -> None:
    script.stream(event(1, "a") + event(2, "b") + "id: 3\nevent: mess", promised=5000)
    script.broken()
    script.broken()
    script.stream(event(2, "b") + event(3, "c"))
    came = []
    for frame in follow(client, "ws_1", 0, pause=lambda _: None):
        assert isinstance(frame, Recorded)
        came.append(frame.seq)
        if frame.seq == 3:
            break
    assert came == [1, 2, 3]
    assert script.asked[-1][1] == "/v1/workstreams/ws_1/events?after=2"


def test_following_gives_up_when_nothing_comes_for_long() -> None:
    moments = count(step=10.0)
    client = ConsoleClient("http://127.0.0.1:9", "rs_t")
    with client, pytest.raises(Unavailable):
        list(follow(client, "ws_1", 0, pause=lambda _: None, monotonic=lambda: next(moments)))


def test_frames_are_told_apart_by_their_id() -> None:
    lines = (
        'event: delta\ndata: {"kind":"delta","channel":"text","step":2,"offset":3,"text":"lo"}\n\n'
        ": a comment\n\nevent: ping\ndata: {}\n\n"
        f'id: 9\nevent: state\ndata: {{"seq":9,"at":"{AT}","kind":"state","state":"idle"}}\n\n'
        "event: cut"
    ).split("\n")
    assert list(frames(lines)) == [
        Streamed("lo", "text", "", 2, 3),
        Notice("ping"),
        Recorded(9, AT, StateChanged("idle")),
    ]
