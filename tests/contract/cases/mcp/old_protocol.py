"""Answers the handshake with the version given as argument: 2024-11-05 (default), 2025-03-26,
2025-06-18 or 1999-01-01.

Right: the first three work, whatever version the client offered (2025-03-26 sends its answers in
a batch array). 1999-01-01: this server alone fails, the error names both versions and what to do;
the rest starts. A server that knows neither `server/discover` nor `ping` (here: method not found)
is no failure.
"""

import json
import sys

VERSION = sys.argv[1] if len(sys.argv) > 1 else "2024-11-05"


def send(message):
    message = {"jsonrpc": "2.0", **message}
    batch = VERSION == "2025-03-26" and "protocolVersion" not in message.get("result", {})
    sys.stdout.write(json.dumps([message] if batch else message) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    m = json.loads(line)
    method, i = m.get("method"), m.get("id")
    if method == "initialize":
        send(
            {
                "id": i,
                "result": {
                    "protocolVersion": VERSION,
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "old", "version": "1"},
                },
            }
        )
    elif method == "tools/list":
        send(
            {"id": i, "result": {"tools": [{"name": "version", "inputSchema": {"type": "object"}}]}}
        )
    elif method == "tools/call":
        send({"id": i, "result": {"content": [{"type": "text", "text": VERSION}]}})
    elif i is not None:
        send({"id": i, "error": {"code": -32601, "message": "Method not found"}})
