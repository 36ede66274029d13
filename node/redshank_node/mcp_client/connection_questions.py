"""Answers what a server asks in the middle of a call: with its own defaults, never with more."""

from typing import Any

import mcp_types

from redshank_node.mcp_client.server_questions import defaults_of


async def answer_with_defaults(
    context: object, params: mcp_types.ElicitRequestParams
) -> mcp_types.ElicitResult:
    """Accept a form that can be filled in with its defaults alone; decline everything else, so that
    no address is opened, nobody is asked on the server's word.
    """
    schema: Any = getattr(params, "requested_schema", None)
    content = defaults_of(schema)
    if content is None:
        return mcp_types.ElicitResult(action="decline")
    return mcp_types.ElicitResult(action="accept", content=content)
