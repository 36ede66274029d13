"""Words that facts, scopes share."""

from typing import Literal

Mode = Literal["default", "acceptEdits", "bypassPermissions", "plan", "dontAsk"]
Effect = Literal["read", "write", "process", "network", "mcp", "human", "deliver", "state"]
