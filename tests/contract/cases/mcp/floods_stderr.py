"""Writes 50 MB to stderr before it answers, ends with a line that holds $CANARY, and reads nothing
for two seconds.

Right: stderr is drained while waiting, so the handshake and `env` answer in time; only the last
lines are kept, and the canary (a secret handed to this server through a slot) appears neither in
the kept lines nor in a log. A call with arguments of 1 MB sent during the two seconds does not
stall other servers. `env` answers the sorted names of its environment: only what the
configuration names plus the few basics, nothing of the host's secrets.
"""

import json
import os
import sys
import time


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


for _ in range(500):
    sys.stderr.write("x" * 99_999 + "\n")
sys.stderr.write(f"token is {os.environ.get('CANARY', '')}\n")  # noqa: TID251 - a process of its own
sys.stderr.flush()
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
                    "serverInfo": {"name": "floods", "version": "1"},
                },
            }
        )
    elif method == "tools/list":
        send(
            {
                "id": i,
                "result": {
                    "tools": [
                        {
                            "name": "env",
                            "inputSchema": {
                                "type": "object",
                                "properties": {"pad": {"type": "string"}},
                            },
                        }
                    ]
                },
            }
        )
        time.sleep(2)
    elif method == "tools/call":
        names = " ".join(sorted(os.environ))  # noqa: TID251 - as above
        send(
            {
                "id": i,
                "result": {"content": [{"type": "text", "text": names}]},
            }
        )
    elif i is not None:
        send({"id": i, "error": {"code": -32601, "message": "no such method"}})
