"""Says list_changed 500 times after the handshake, and once more inside every tools/list; each
list has a tool more.

Right: the notices are gathered (a handful of tools/list, not 500; `lists` answers how many it
saw), handled outside the receive loop, so calls go on answering meanwhile; in the end the newest
list is shown. A turn that is running keeps the tools it began with; the next turn has the new
ones. Never: deadlock, busy loop, or a list older than the last notice. (With a fixed inventory
the notices are ignored and the first list stays.)
"""

import json
import sys

lists = 0


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    m = json.loads(line)
    method, i = m.get("method"), m.get("id")
    if method == "initialize":
        send(
            {
                "id": i,
                "result": {
                    "protocolVersion": m["params"]["protocolVersion"],
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "storm", "version": "1"},
                },
            }
        )
    elif method == "notifications/initialized":
        for _ in range(500):
            send({"method": "notifications/tools/list_changed"})
    elif method == "tools/list":
        lists += 1
        if lists < 4:
            send({"method": "notifications/tools/list_changed"})
        names = ["lists"] + [f"extra_{n}" for n in range(1, min(lists, 4) + 1)]
        send(
            {
                "id": i,
                "result": {
                    "tools": [{"name": n, "inputSchema": {"type": "object"}} for n in names]
                },
            }
        )
    elif method == "tools/call":
        send({"id": i, "result": {"content": [{"type": "text", "text": str(lists)}]}})
    elif i is not None:
        send({"id": i, "error": {"code": -32601, "message": "no such method"}})
