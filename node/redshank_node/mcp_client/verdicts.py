"""Marks errors that we write ourselves in a server's place, so that no server can forge them."""

import secrets
from typing import Any, Literal

# What became of a request: never executed; not known; refused; never executed, for the session is
# no longer known.
Kind = Literal["not_executed", "unknown", "refused", "expired"]


class Verdicts:
    """Those of one connection."""

    def __init__(self) -> None:
        self._mark = secrets.token_hex(16)

    def data(self, kind: Kind) -> dict[str, Any]:
        """What stands in the `data` of such an error."""
        return {"mark": self._mark, "kind": kind}

    def kind_of(self, data: object) -> Kind | None:
        """What became of a request whose error has this `data`: None where the server wrote it."""
        if isinstance(data, dict) and data.get("mark") == self._mark:
            kind: Kind = data["kind"]
            return kind
        return None
