"""Results that are small on the wire and large to handle: 50,000 levels of JSON, 100,000 fields,
1,000 content items, a key of 100,000 letters, NUL and lone surrogates in text, an image of 10 MB.

Right: each call ends in a bounded result (depth 8, 128 items, 128 fields, keys of 512, strings of
16,384, 64 content items, binary named with type and size) or in an error that names the limit;
the log, the page and the search stay usable; `small` works afterwards. (Tolerated for `levels`
and `odd_text`: the call ends only at its deadline, the connection usable.) Never: a crash of the
parser, a database error for NUL or surrogates, a stuck page.
"""

import json
import sys


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def raw(i, structured):
    text = '[{"type": "text", "text": "see structured"}]'
    result = f'{{"content": {text}, "structuredContent": {structured}}}'
    sys.stdout.write(f'{{"jsonrpc": "2.0", "id": {json.dumps(i)}, "result": {result}}}\n')
    sys.stdout.flush()


TEXT = {
    "small": [{"type": "text", "text": "ok"}],
    "items": [{"type": "text", "text": f"item {n}"} for n in range(1000)],
    "odd_text": [{"type": "text", "text": "a\u0000b\ud800c\u202ed"}],
    "image": [{"type": "image", "mimeType": "image/png", "data": "A" * 10_000_000}],
}
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
                    "serverInfo": {"name": "deep", "version": "1"},
                },
            }
        )
    elif method == "tools/list":
        send(
            {
                "id": i,
                "result": {
                    "tools": [
                        {"name": n, "inputSchema": {"type": "object"}}
                        for n in ("levels", "fields", "key", *TEXT)
                    ]
                },
            }
        )
    elif method == "tools/call":
        name = m["params"]["name"]
        if name == "levels":
            raw(i, '{"a": ' + "[" * 50_000 + "]" * 50_000 + "}")
        elif name == "fields":
            raw(i, json.dumps({f"f{n}": n for n in range(100_000)}))
        elif name == "key":
            raw(i, json.dumps({"k" * 100_000: 1}))
        else:
            send({"id": i, "result": {"content": TEXT[name]}})
    elif i is not None:
        send({"id": i, "error": {"code": -32601, "message": "no such method"}})
