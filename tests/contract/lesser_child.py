"""Runs one call in a child that the system allows less: small files, no rights of root."""

import os
import pathlib
import subprocess
import sys
from typing import Any

import msgspec

from redshank_node.tools.tool import Result

NOBODY = 65534
_UNLIMITED = -1
_CHILD = """
import asyncio, concurrent.futures.thread, json, os, pathlib, resource, sys
from tests.contract.edit_cases import Session
root, most, user, name, arguments = json.load(sys.stdin)
session = Session(pathlib.Path(root))
session.tool(name)
resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
if user:
    os.seteuid(user)
result = asyncio.run(session.call(name, **arguments))
sys.stdout.write(json.dumps({"output": result.output, "is_error": result.is_error}))
"""


def called_with_limit(
    root: pathlib.Path, most_bytes: int, name: str, arguments: dict[str, Any]
) -> Result:
    """The call's result where no file may get more than so many bytes."""
    return _called([str(root), most_bytes, 0, name, arguments])


def called_as_nobody(root: pathlib.Path, name: str, arguments: dict[str, Any]) -> Result:
    """The call's result for a user who may do only what everybody may."""
    user = NOBODY if os.geteuid() == 0 else 0
    return _called([str(root), _UNLIMITED, user, name, arguments])


def _called(given: list[Any]) -> Result:
    ran = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=msgspec.json.encode(given),
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        timeout=60,
        check=True,
    )
    return Result(**msgspec.json.decode(ran.stdout))
