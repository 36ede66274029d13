"""An MCP server of a few lines, quick to start: says back what it is told, leaves word of it.

Run it: `mcp_echo.py FOLDER NAME stdio`, or `mcp_echo.py FOLDER NAME http PORT`. NAME.pids in FOLDER
has its process id, NAME.done each word that it acted on, before it answers.
"""

import json
import os
import secrets
import sys
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import Any

Send = Callable[[dict[str, Any]], None]
TOOL = {
    "name": "echo",
    "description": "Says the word back after a pause",
    "inputSchema": {
        "type": "object",
        "properties": {"word": {"type": "string"}, "pause_ms": {"type": "integer"}},
        "required": ["word"],
    },
}


class Echo:
    """What both wires share."""

    def __init__(self, folder: Path, name: str) -> None:
        self._name = name
        self._done = (folder / f"{name}.done").open("a")
        self._lock = Lock()
        with (folder / f"{name}.pids").open("a") as pids:
            pids.write(f"{os.getpid()}\n")

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request."""
        method, params = message["method"], message.get("params") or {}
        head = {"jsonrpc": "2.0", "id": message["id"]}
        if method == "initialize":
            about = {"name": self._name, "version": "1"}
            version = params["protocolVersion"]
            result = {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": about,
            }
        elif method == "tools/list":
            result = {"tools": [TOOL]}
        elif method == "tools/call":
            result = self._echo(params["arguments"])
        elif method == "ping":
            result = {}
        else:
            return {**head, "error": {"code": -32601, "message": "no such method"}}
        return {**head, "result": result}

    def _echo(self, arguments: dict[str, Any]) -> dict[str, Any]:
        time.sleep(arguments.get("pause_ms", 0) / 1000)
        word = arguments["word"]
        with self._lock:
            self._done.write(f"{word}\n")
            self._done.flush()
        return {"content": [{"type": "text", "text": f"{self._name} {word}"}]}


def over_stdio(echo: Echo) -> None:
    """Until standard input ends; calls run beside each other, answers come in any order."""
    lock = Lock()

    def work(message: dict[str, Any]) -> None:
        line = json.dumps(echo.answer(message))
        with lock:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        if message.get("method") == "tools/call":
            Thread(target=work, args=(message,), daemon=True).start()
        else:
            work(message)


def over_http(echo: Echo, port: int) -> None:
    """For ever; a session of an earlier process is unknown (404)."""
    session = secrets.token_hex(8)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body in one packet: the second would wait for the first one's acknowledgement.
        wbufsize = -1

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            begins = message.get("method") in ("initialize", "server/discover")
            if not begins and self.headers.get("Mcp-Session-Id") != session:
                self._say(404, b"")
            elif "id" not in message:
                self._say(202, b"")
            else:
                self._say(200, json.dumps(echo.answer(message)).encode())

        def do_GET(self) -> None:
            self._say(405, b"")

        def do_DELETE(self) -> None:
            self._say(200, b"")

        def _say(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Mcp-Session-Id", session)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

    server = None
    while server is None:
        try:
            server = Server(("127.0.0.1", port), Handler)
        except OSError:
            # Somebody else has the port for a moment, while the one before us is gone.
            time.sleep(0.05)
    with server:
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        server.serve_forever()


if __name__ == "__main__":
    made = Echo(Path(sys.argv[1]), sys.argv[2])
    if sys.argv[3] == "stdio":
        over_stdio(made)
    else:
        over_http(made, int(sys.argv[4]))
