"""Reads what goes out over HTTP, with what a refusal of it proves."""

import msgspec

_WITHOUT_EFFECT = frozenset(
    ("ping", "tools/list", "prompts/list", "resources/list", "resources/templates/list")
)
_TAKEN_SECONDS = 5.0
_CANCEL_TAKEN_SECONDS = 1.0
_SESSION_WORDS = ("session", "not initialized")


class Sent(msgspec.Struct, frozen=True):
    """A message of ours. A notification has no `id`, an answer no `method`."""

    method: str = ""
    id: int | str | None = None

    @property
    def patience_seconds(self) -> float | None:
        """How long it may be under way. What is no request holds up all that is sent behind it; a
        server that hangs is told so of each call that nobody waits for any more.
        """
        if self.method == "notifications/cancelled":
            return _CANCEL_TAKEN_SECONDS
        return None if self.method and self.id is not None else _TAKEN_SECONDS

    @property
    def is_harmless(self) -> bool:
        """Whether carrying it out twice changes nothing."""
        return self.method in _WITHOUT_EFFECT


class _Refusal(msgspec.Struct):
    class Said(msgspec.Struct):
        message: str = ""

    error: Said
    id: object = None


def sent_in(body: bytes) -> Sent:
    """The message that is the body of a request."""
    try:
        return msgspec.json.decode(body, type=Sent)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Sent()


def is_session_refusal(body: bytes) -> bool:
    """Whether it refuses, for want of a session, a request that it did not even take apart: such an
    error of JSON-RPC names no request. One that names it may come from the tool.
    """
    try:
        refusal = msgspec.json.decode(body, type=_Refusal)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    said = refusal.error.message.lower()
    return refusal.id is None and any(word in said for word in _SESSION_WORDS)
