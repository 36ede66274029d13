"""An MCP server over streamable HTTP with sessions, whose first one of each address goes wrong.

Run it: `mcp_stateful_http.py`; it prints `port N`. The path says what becomes of the first session
at the first call of its tool `work`; all other sessions do the work and answer how often it was
done so far at this address:

`/gone` 404 for each request from then on; `/unread` 400 each, an error of JSON-RPC that names no
request; `/lapsed` 400 each in plain words of its session, the call's work being done before;
`/broken` does the work, answers the call with 400 and an error of its own that speaks of a
session; `/stuck` takes each request from then on and never answers.
"""

import json
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NO_SESSION = {"code": -32000, "message": "Bad Request: No valid session ID provided"}
NO_BROWSER = {"code": -32000, "message": "the browser session crashed"}
sessions: Counter[str] = Counter()
done: Counter[str] = Counter()
wrong: set[str] = set()
lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._say(405, b"", "text/plain")

    def do_DELETE(self) -> None:
        if self._is_first() and self.path == "/stuck":
            threading.Event().wait()
        self._say(200, b"", "text/plain")

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        works = message.get("method") == "tools/call"
        if self._is_first() and works:
            wrong.add(self.path)
        if self._is_first() and self.path in wrong:
            self._go_wrong(message, works)
        elif "id" not in message:
            self._say(202, b"", "text/plain")
        else:
            self._answer(message)

    def _is_first(self) -> bool:
        return self.headers.get("Mcp-Session-Id", "") == f"{self.path[1:]}-1"

    def _go_wrong(self, message: dict[str, Any], works: bool) -> None:
        if self.path == "/stuck":
            threading.Event().wait()
        elif self.path == "/gone":
            self._say(404, b"Not Found", "text/plain")
        elif self.path == "/unread":
            self._say_json(400, {"id": None, "error": NO_SESSION})
        elif self.path == "/broken" and not works:
            self._answer(message)
        else:
            done[self.path] += works
            if self.path == "/broken":
                self._say_json(400, {"id": message["id"], "error": NO_BROWSER})
            else:
                self._say(400, b"your session is over", "text/plain")

    def _answer(self, message: dict[str, Any]) -> None:
        method, name = message["method"], self.path
        if method == "initialize":
            with lock:
                sessions[name] += 1
            version = message["params"]["protocolVersion"]
            about = {"name": "stateful", "version": "1"}
            result: dict[str, Any] = {"protocolVersion": version, "serverInfo": about}
            result["capabilities"] = {"tools": {}}
            session = f"{name[1:]}-{sessions[name]}"
            self._say_json(200, {"id": message["id"], "result": result}, session)
        elif method == "tools/list":
            tool = {"name": "work", "inputSchema": {"type": "object"}}
            self._say_json(200, {"id": message["id"], "result": {"tools": [tool]}})
        elif method == "tools/call":
            done[name] += 1
            said = [{"type": "text", "text": f"done {done[name]}"}]
            self._say_json(200, {"id": message["id"], "result": {"content": said}})
        else:
            error = {"code": -32601, "message": "no such method"}
            self._say_json(200, {"id": message["id"], "error": error})

    def _say_json(self, status: int, message: dict[str, Any], session: str = "") -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._say(status, body, "application/json", session)

    def _say(self, status: int, body: bytes, media_type: str, session: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        if session:
            self.send_header("Mcp-Session-Id", session)
        self.end_headers()
        self.wfile.write(body)


with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
    server.daemon_threads = True
    sys.stdout.write(f"port {server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
