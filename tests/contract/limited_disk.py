"""Runs one call in a child that cannot write large files, as on a full disk."""

import os
import pathlib
import subprocess
import sys
from typing import Any

import msgspec

from redshank_node.tools.tool import Result

_CHILD = """
import asyncio, json, pathlib, resource, sys
from tests.contract.edit_cases import Session
root, most, name, arguments = json.load(sys.stdin)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
result = asyncio.run(Session(pathlib.Path(root)).call(name, **arguments))
sys.stdout.write(json.dumps({"output": result.output, "is_error": result.is_error}))
"""


def called_with_limit(
    root: pathlib.Path, most_bytes: int, name: str, arguments: dict[str, Any]
) -> Result:
    """The call's result where no file may get more than so many bytes."""
    given = msgspec.json.encode([str(root), most_bytes, name, arguments])
    ran = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=given,
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        timeout=60,
        check=True,
    )
    return Result(**msgspec.json.decode(ran.stdout))
