"""Why a request to an MCP server has no answer: each message names the server with the cause."""


class McpFailure(Exception):
    """A request to an MCP server failed. `server` is its name, `cause` what happened, redacted."""

    def __init__(self, server: str, cause: str) -> None:
        super().__init__(f"MCP server {server}: {cause}")
        self.server = server
        self.cause = cause


class ServerUnavailable(McpFailure):
    """Nothing was sent: the server is not connected, or refused the request unread."""


class OutcomeUnknown(McpFailure):
    """It was sent, and the connection ended before the answer: what it did is not known (F9)."""


class CallTimedOut(McpFailure):
    """No answer in time. That proves no absence of an effect (C-51)."""


class ProtocolFailure(McpFailure):
    """The server answered with an error, or with what is no valid answer."""


class ToolChanged(McpFailure):
    """Nothing was sent: the tool is not what was decided on any more (F64)."""
