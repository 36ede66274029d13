"""Waits on this machine for a browser that comes back from a login."""

import html
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qsl, urlsplit

from redshank_shared.domain.errors import RedshankError, Unavailable

PATH = "/callback"
_LOOK_SECONDS = 1.0
_REQUEST_SECONDS = 30.0
_HEADERS = (
    ("Content-Type", "text/html; charset=utf-8"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title} - Redshank</title>
<h1>{title}</h1>
<p>{text}</p></html>
"""

Answered = Callable[[dict[str, str]], str]


class Loopback:
    """Listens on 127.0.0.1 at a free port, for one answer. Close it, or use it as a context."""

    def __init__(self) -> None:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.timeout = _LOOK_SECONDS

    def __enter__(self) -> "Loopback":
        return self

    def __exit__(self, *error: object) -> None:
        self._server.server_close()

    @property
    def address(self) -> str:
        """Where the browser comes back."""
        return f"http://127.0.0.1:{self._server.server_port}{PATH}"

    def wait(
        self, state: str, answered: Answered, seconds: float, now: Callable[[], float]
    ) -> None:
        """Return once the answer with this state is taken. `answered` gets its fields, gives the
        text that the browser shows; what it raises is shown there, then raised here. Others who
        come are sent away. Unavailable when nobody came in time; `now` is a monotonic clock.
        """
        server = self._server
        server.state, server.answered, server.taken, server.error = state, answered, False, None
        end = now() + seconds
        while not server.taken:
            if now() > end:
                raise Unavailable("no browser came back in time: begin the login again")
            server.handle_request()
        if server.error is not None:
            raise server.error


class _Server(HTTPServer):
    state = ""
    answered: Answered
    taken = False
    error: RedshankError | None = None


class _Handler(BaseHTTPRequestHandler):
    """One request at a time; a silent client is let go."""

    timeout = _REQUEST_SECONDS

    def do_GET(self) -> None:  # noqa: N802 - the library calls it by this name
        """Take the answer, or send away who brings another."""
        server = self.server
        assert isinstance(server, _Server)
        parts = urlsplit(self.path)
        fields = dict(parse_qsl(parts.query))
        if parts.path != PATH or fields.get("state") != server.state or server.taken:
            self._show(404, "Not here", "No login with this state is under way.")
            return
        server.taken = True
        try:
            text = server.answered(fields)
        except RedshankError as error:
            server.error = error
            self._show(409, "The login failed", error.detail)
            return
        self._show(200, "Logged in", text)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: a request's line holds the code."""

    def _show(self, status: int, title: str, text: str) -> None:
        body = _PAGE.format(title=html.escape(title), text=html.escape(text)).encode()
        self.send_response(status)
        for name, value in _HEADERS:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
