"""Knows what a server says of a tool now, whatever of it turns are shown (F64)."""

import hashlib

import msgspec

from redshank_node.mcp_client.calling import Servers
from redshank_node.mcp_client.inventory import Inventory, RemoteTool
from redshank_node.mcp_client.remote_schema import Unusable

_UNREADABLE = "unreadable"


class SaidNow:
    """What a server says of one tool of its own."""

    def __init__(self, servers: Servers, server: str, tool: str) -> None:
        self._servers = servers
        self._server = server
        self._tool = tool
        self._seen: Inventory | None = None
        self._remote: RemoteTool | None = None
        self._digest = ""

    def remote(self) -> RemoteTool | None:
        """The tool; None while its server has said nothing yet, or does not list it (any more)."""
        said = self._servers.said(self._server)
        if said is not self._seen:
            # Of two with one name the first is the one that turns are offered.
            listed = said.tools if said else ()
            self._remote = next((each for each in listed if each.name == self._tool), None)
            self._seen, self._digest = said, ""
        return self._remote

    def digest(self) -> str:
        """Of what it says; empty where it does not list the tool."""
        remote = self.remote()
        if remote is not None and not self._digest:
            try:
                self._digest = digest(remote)
            except Unusable:
                self._digest = _UNREADABLE
        return self._digest

    def is_still(self, known: str) -> bool:
        """Whether it says what has this digest. A tool that is not listed is the server's to
        refuse, one that cannot be read is never what it was.
        """
        now = self.digest()
        return not now or (now == known and now != _UNREADABLE)


def digest(remote: RemoteTool) -> str:
    """Names all that the server says of the tool; Unusable where it cannot be read to its end."""
    try:
        said = msgspec.json.encode([remote.description, remote.input_schema], order="sorted")
    except (RecursionError, UnicodeEncodeError, TypeError, ValueError) as error:
        raise Unusable(f"its description is no JSON ({type(error).__name__})") from error
    return "sha256:" + hashlib.sha256(said).hexdigest()
