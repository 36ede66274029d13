"""Before each true answer: one for an id nobody asked, one with the id as text, one without
jsonrpc; after it the same answer again with other content, and one with both result and error.

Right: only the first answer with the right id counts ("true 1", "true 2", ...); all others are
dropped with a warning and change nothing; two calls in flight at once (`slow` waits for the next
call and is answered after it) each get their own answer.
"""

import json
import sys

count = 0
waiting = None


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(i, text):
    def result(value):
        return {"content": [{"type": "text", "text": value}]}

    send({"jsonrpc": "2.0", "id": 987654, "result": result("nobody asked")})
    send({"jsonrpc": "2.0", "id": f"x{i}", "result": result("id as other text")})
    send({"id": i, "result": result("no version")})
    send({"jsonrpc": "2.0", "id": i, "result": result(text)})
    send({"jsonrpc": "2.0", "id": i, "result": result("second answer")})
    send(
        {
            "jsonrpc": "2.0",
            "id": i,
            "result": result("both"),
            "error": {"code": 1, "message": "both"},
        }
    )


for line in sys.stdin:
    m = json.loads(line)
    method, i = m.get("method"), m.get("id")
    if method == "initialize":
        send(
            {
                "jsonrpc": "2.0",
                "id": i,
                "result": {
                    "protocolVersion": m["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "wrong_id", "version": "1"},
                },
            }
        )
    elif method == "tools/list":
        send(
            {
                "jsonrpc": "2.0",
                "id": i,
                "result": {
                    "tools": [
                        {"name": n, "inputSchema": {"type": "object"}} for n in ("slow", "quick")
                    ]
                },
            }
        )
    elif method == "tools/call":
        count += 1
        if m["params"]["name"] == "slow":
            waiting = (i, f"true {count}")
            continue
        answer(i, f"true {count}")
        if waiting:
            answer(*waiting)
            waiting = None
    elif i is not None:
        send({"jsonrpc": "2.0", "id": i, "error": {"code": -32601, "message": "no such method"}})
