"""An MCP server over stdio whose tools misbehave on demand.

Run it: `mcp_moody.py FOLDER MOOD...`. FOLDER/starts gets a line with its process id at each start,
FOLDER/tools, where it is there, names the tools that it lists beside its own, FOLDER/failing how
many listings are to fail (each takes one off); each ping adds a line to FOLDER/pings. Moods:
`silent` answers nothing, `shy` nothing that it does not know, `crashing` ends at once with a word
on stderr, `stubborn` ignores the end of its input and TERM, `bad_schema` lists tools whose schemas
are none, `catalogue` has prompts and resources too, `parent` starts a process of its own.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FOLDER, MOODS = Path(sys.argv[1]), sys.argv[2:]
OWN = (
    "ok",
    "pid",
    "die",
    "deaf",
    "never",
    "stuck",
    "progress",
    "flood",
    "huge",
    "cancelled",
    "notify",
    "fail",
)
OBJECT = {"type": "object"}
cancelled: list[Any] = []


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def named(file: str) -> list[str]:
    path = FOLDER / file
    return path.read_text().split() if path.exists() else []


def tools() -> list[Any]:
    listed: list[Any] = [{"name": name, "inputSchema": OBJECT} for name in (*OWN, *named("tools"))]
    if "bad_schema" in MOODS:
        listed.insert(1, {"name": "empty", "inputSchema": {}})
        listed += [{"inputSchema": OBJECT}, "text", {"name": "none"}]
        deep: Any = {"type": "object"}
        for _ in range(100):
            deep = {"type": "object", "properties": {"inner": deep}}
        listed.append({"name": "deep", "inputSchema": deep})
    return listed


def call(request_id: Any, params: dict[str, Any]) -> None:
    name = params["name"]
    if name == "die":
        os._exit(7)
    if name == "never":
        return
    if name == "stuck":
        time.sleep(3600)
    if name == "fail":
        send({"id": request_id, "error": {"code": -32000, "message": "the disk is full"}})
        return
    for method, about in notices(name, params):
        send({"method": method, "params": about})
    said = {"pid": str(os.getpid()), "cancelled": json.dumps(cancelled)}.get(name, name)
    if name == "huge":
        said = "x" * (17 * 1024 * 1024)
    send({"id": request_id, "result": {"content": [{"type": "text", "text": said}]}})
    if name == "deaf":
        time.sleep(params["arguments"].get("after_seconds", 0))
        os.close(0)
        time.sleep(3600)


def notices(name: str, params: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    if name == "progress":
        token = params["_meta"]["progressToken"]
        steps = [{"progress": 1, "total": 2, "message": "half"}, {"progress": 2}]
        return [("notifications/progress", {"progressToken": token, **step}) for step in steps]
    if name == "flood":
        about = {"level": "info", "data": "x" * 50}
        return [("notifications/message", about)] * params["arguments"]["notices"]
    if name == "notify":
        return [(f"notifications/{params['arguments']['what']}/list_changed", {})]
    return []


def fails() -> bool:
    left = [int(number) for number in named("failing")]
    if not left or left[0] == 0:
        return False
    (FOLDER / "failing").write_text(str(left[0] - 1))
    return True


def initialize(params: dict[str, Any]) -> dict[str, Any]:
    has: dict[str, Any] = {"tools": {"listChanged": True}}
    if "catalogue" in MOODS:
        has |= {"resources": {"listChanged": True}, "prompts": {"listChanged": True}}
    return {
        "protocolVersion": params["protocolVersion"],
        "capabilities": has,
        "serverInfo": {"name": "moody", "title": "Moody", "version": "1"},
        "instructions": "Be kind.",
    }


def resources(_: dict[str, Any]) -> dict[str, Any]:
    uris = ["note:///a", *(f"note:///{name}" for name in named("tools"))]
    return {"resources": [{"uri": uri, "name": uri} for uri in uris]}


def prompts(_: dict[str, Any]) -> dict[str, Any]:
    wanted = {"name": "who", "required": True}
    names = ["greet", *named("tools")]
    return {"prompts": [{"name": name, "arguments": [wanted]} for name in names]}


def read(params: dict[str, Any]) -> dict[str, Any]:
    return {"contents": [{"uri": params["uri"], "text": "the note", "mimeType": "text/plain"}]}


def filled_in(params: dict[str, Any]) -> dict[str, Any]:
    content = {"type": "text", "text": f"Greet {params['arguments']['who']}."}
    return {"messages": [{"role": "user", "content": content}]}


def pinged(_: dict[str, Any]) -> dict[str, Any]:
    with (FOLDER / "pings").open("a") as pings:
        pings.write("ping\n")
    return {}


ANSWERS = {
    "ping": pinged,
    "initialize": initialize,
    "tools/list": lambda _: None if fails() else {"tools": tools()},
    "resources/list": resources,
    "prompts/list": prompts,
    "resources/read": read,
    "prompts/get": filled_in,
}


def answer(message: dict[str, Any]) -> None:
    method, request_id = message.get("method", ""), message.get("id")
    if method == "notifications/cancelled":
        cancelled.append(message["params"]["requestId"])
    elif method == "tools/call":
        call(request_id, message["params"])
    elif method in ANSWERS and (result := ANSWERS[method](message.get("params") or {})) is not None:
        send({"id": request_id, "result": result})
    elif request_id is not None and "shy" not in MOODS:
        send({"id": request_id, "error": {"code": -32601, "message": "no such method"}})


def main() -> None:
    with (FOLDER / "starts").open("a") as starts:
        starts.write(f"{os.getpid()}\n")
    if "crashing" in MOODS:
        sys.stderr.write("no licence found\n")
        sys.exit(3)
    if "stubborn" in MOODS:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "parent" in MOODS:
        child = subprocess.Popen(["sleep", "300"], start_new_session=True)
        with (FOLDER / "children").open("a") as children:
            children.write(f"{child.pid}\n")
    with contextlib.suppress(KeyboardInterrupt):
        for line in sys.stdin:
            if "silent" not in MOODS:
                answer(json.loads(line))
    while "stubborn" in MOODS:
        time.sleep(60)


main()
