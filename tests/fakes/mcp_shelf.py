"""An MCP server over stdio that offers what its file says at the moment it is asked.

Run it: `mcp_shelf.py FILE`. A line of FILE is the name of a tool with, behind a blank, what it
says of itself; one that begins with `uri:` is a resource, with `prompt:` a prompt. Each start is
noted in FILE.starts.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any


def shelf(file: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, Any]]]:
    """Tools, resources, prompts."""
    lines = [line.partition(" ") for line in file.read_text().splitlines() if line]
    schema = {"type": "object", "properties": {"word": {"type": "string"}}}
    tools = [
        {"name": name, "description": said, "inputSchema": schema}
        for name, _, said in lines
        if ":" not in name
    ]
    resources = [
        {"uri": name.removeprefix("uri:"), "name": said or name}
        for name, _, said in lines
        if name.startswith("uri:")
    ]
    prompts = [
        {"name": name.removeprefix("prompt:"), "description": said}
        for name, _, said in lines
        if name.startswith("prompt:")
    ]
    return tools, resources, prompts


def answer(message: dict[str, Any], file: Path) -> dict[str, Any]:
    """The answer to a request."""
    method, params = message["method"], message.get("params") or {}
    head = {"jsonrpc": "2.0", "id": message["id"]}
    tools, resources, prompts = shelf(file)
    results: dict[str, dict[str, Any]] = {
        "initialize": {
            "protocolVersion": params.get("protocolVersion", ""),
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "shelf", "version": "1"},
            "instructions": "Ask for what is on the shelf.",
        },
        "tools/list": {"tools": tools},
        "resources/list": {"resources": resources},
        "resources/templates/list": {"resourceTemplates": []},
        "prompts/list": {"prompts": prompts},
        "tools/call": {"content": [{"type": "text", "text": "taken"}]},
        "ping": {},
    }
    if method not in results:
        return {**head, "error": {"code": -32601, "message": "no such method"}}
    return {**head, "result": results[method]}


def main(file: Path) -> None:
    """Until standard input ends."""
    with Path(f"{file}.starts").open("a") as starts:
        starts.write(f"{os.getpid()}\n")
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            sys.stdout.write(json.dumps(answer(message, file)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
