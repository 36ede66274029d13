"""Tool names of 40, 64, 65 and 200 letters; two of them share their first 64.

Right: a local name (mcp__<server>__<tool>) over 64 is refused like a collision: by profile start-
up fails naming it, or that tool alone is dropped with the reason. No name is cut, so the two
never become one and no call reaches the wrong tool (the answer is the length and the last letter
of the original). The tool of 40 letters works.
"""

import json
import sys

NAMES = ["a" * 40, "b" * 64, "c" * 65, "d" * 199 + "x", "d" * 199 + "y"]


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
                    "serverInfo": {"name": "long_names", "version": "1"},
                },
            }
        )
    elif method == "tools/list":
        send(
            {
                "id": i,
                "result": {
                    "tools": [{"name": n, "inputSchema": {"type": "object"}} for n in NAMES]
                },
            }
        )
    elif method == "tools/call":
        name = m["params"]["name"]
        send({"id": i, "result": {"content": [{"type": "text", "text": f"{len(name)}{name[-1]}"}]}})
    elif i is not None:
        send({"id": i, "error": {"code": -32601, "message": "no such method"}})
