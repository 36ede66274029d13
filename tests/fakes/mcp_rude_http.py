"""An MCP server over streamable HTTP that answers by its address.

Run it: `mcp_rude_http.py`; it prints `port N`. Below `/good` it behaves, and its tool `headers`
says which headers came. `/status/N` answers each request with that HTTP status and a page of HTML,
`/later/N` only the calls of tools, `/endless` a call with JSON that never ends, `/flood` a call
with an event stream that never ends, `/zipped` a call with what is compressed.
"""

import contextlib
import gzip
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PAGE = b"<html>nothing to see here</html>"


class Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._say(405, b"", "text/plain")

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        kind, _, number = self.path.strip("/").partition("/")
        calls = message.get("method") == "tools/call"
        if kind == "status" or (kind == "later" and calls):
            self._say(int(number), PAGE, "text/html")
        elif kind in ("endless", "flood", "zipped") and calls:
            with contextlib.suppress(OSError):
                getattr(self, f"_{kind}")(message)
        elif "id" not in message:
            self._say(202, b"", "text/plain")
        else:
            body = {"jsonrpc": "2.0", "id": message["id"], **self._answer(message)}
            self._say(200, json.dumps(body).encode(), "application/json")

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        method = message["method"]
        if method == "initialize":
            version = message["params"]["protocolVersion"]
            about = {"name": "rude", "version": "1"}
            result = {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": about,
            }
        elif method == "tools/list":
            result = {"tools": [{"name": "headers", "inputSchema": {"type": "object"}}]}
        elif method == "tools/call":
            said = json.dumps({name.lower(): value for name, value in self.headers.items()})
            result = {"content": [{"type": "text", "text": said}]}
        else:
            return {"error": {"code": -32601, "message": "no such method"}}
        return {"result": result}

    def _endless(self, message: dict[str, Any]) -> None:
        self._begin("application/json")
        self.wfile.write(b'{"jsonrpc": "2.0", "id": %d, "result": {"a": "' % message["id"])
        while True:
            self.wfile.write(b"x" * 1_000_000)

    def _flood(self, message: dict[str, Any]) -> None:
        self._begin("text/event-stream")
        notice = json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {}})
        while True:
            self.wfile.write(f"data: {notice}\n\n".encode() * 100)

    def _zipped(self, message: dict[str, Any]) -> None:
        body = gzip.compress(b" " * 1_000_000 + json.dumps(self._answer(message)).encode())
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _begin(self, media_type: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.end_headers()

    def _say(self, status: int, body: bytes, media_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        if status == 401:
            self.send_header("WWW-Authenticate", 'Bearer resource_metadata="http://127.0.0.1/x"')
        self.end_headers()
        self.wfile.write(body)


with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
    server.daemon_threads = True
    sys.stdout.write(f"port {server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
