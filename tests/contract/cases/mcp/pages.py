"""Seven tools on four pages, one of them empty. With the argument `stuck` the last page repeats
its own cursor for ever.

Right: all seven tools, each once, in order; an empty page is not the end (only a missing
nextCursor is). With `stuck`: a cursor seen before ends the listing with a warning, still seven
tools, within a few requests. `requests` answers how many tools/list it saw. Never: only the first
page, tools doubled, or an endless loop.
"""

import json
import sys

PAGES = {None: ([0, 1, 2], "p2"), "p2": ([], "p3"), "p3": ([3, 4], "p4"), "p4": ([5, 6], None)}
STUCK = "stuck" in sys.argv
seen = 0


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
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "pages", "version": "1"},
                },
            }
        )
    elif method == "tools/list":
        seen += 1
        cursor = (m.get("params") or {}).get("cursor")
        if cursor not in PAGES:
            send({"id": i, "error": {"code": -32602, "message": "unknown cursor"}})
            continue
        numbers, following = PAGES[cursor]
        result = {
            "tools": [
                {"name": f"t{n}" if n else "requests", "inputSchema": {"type": "object"}}
                for n in numbers
            ]
        }
        if following or STUCK:
            result["nextCursor"] = following or "p4"
        send({"id": i, "result": result})
    elif method == "tools/call":
        send({"id": i, "result": {"content": [{"type": "text", "text": str(seen)}]}})
    elif i is not None:
        send({"id": i, "error": {"code": -32601, "message": "no such method"}})
