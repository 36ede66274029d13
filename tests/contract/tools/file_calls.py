"""Calls of tools that look at files, as a node runs them."""

import pathlib
from collections.abc import Mapping
from typing import Any

from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import BadArguments, CallContext, Result, Workspace
from redshank_node.tools.toolbox import Toolbox
from redshank_shared.domain.pins import Pin, Pins

TOOLBOX = Toolbox(BUILTIN)


async def called(
    root: pathlib.Path,
    name: str,
    arguments: Mapping[str, Any],
    *,
    options: Mapping[str, Any] | None = None,
    pins: Mapping[str, Pin] | None = None,
    max_bytes: int = 262144,
) -> Result:
    """The result of one call; bad arguments are one too, as the pipeline makes them."""
    tool = TOOLBOX.resolve(name)
    assert tool is not None
    workspace = Workspace(root, options=options or {})
    try:
        prepared = tool.prepare(dict(arguments), workspace)
    except BadArguments as wrong:
        return Result(str(wrong), is_error=True, outcome="error")
    context = CallContext("call", workspace, lambda _: None, max_bytes, pins=Pins(dict(pins or {})))
    return await tool.run(prepared, context)
