"""Talks before and between its answers: a banner, log lines that begin with [ or {, a blank line;
with the argument `bytes` also bytes that are no UTF-8 (a common client library loses the
connection over them).

Right: every line that is no JSON-RPC message is skipped and kept as a warning (bounded) on the
server's status; the server counts as connected and `hello` answers "hi". Never: connection
closed, or a line taken for an answer.
"""

import json
import sys

out = sys.stdout.buffer


def noise():
    out.write(b"*** ACME server 3.1 ***\n[02/11/26 06:14:35] INFO starting\n{not json\n\n")
    out.write(b'[1, 2]\n"text"\n42\nnull\n')
    if "bytes" in sys.argv:
        out.write(b"\xff\xfe caf\xe9\n")
    out.flush()


def send(message):
    out.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    out.flush()


noise()
for line in sys.stdin:
    m = json.loads(line)
    method, i = m.get("method"), m.get("id")
    if method == "initialize":
        noise()
        send(
            {
                "id": i,
                "result": {
                    "protocolVersion": m["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "banner", "version": "1"},
                },
            }
        )
    elif method == "tools/list":
        noise()
        send(
            {
                "id": i,
                "result": {
                    "tools": [
                        {
                            "name": "hello",
                            "description": "Says hi",
                            "inputSchema": {"type": "object"},
                        }
                    ]
                },
            }
        )
    elif method == "tools/call":
        noise()
        send({"id": i, "result": {"content": [{"type": "text", "text": "hi"}]}})
    elif i is not None:
        send({"id": i, "error": {"code": -32601, "message": "no such method"}})
