"""Notices that a server hangs: call after call without an answer, nothing else from it either."""

import msgspec

TIMEOUTS_TO_DOUBT = 3
_LONGEST_PING_SECONDS = 10.0


class Silence(msgspec.Struct, frozen=True):
    """Calls in a row whose time was over, as long as the connection's count of `answers` stood."""

    timeouts: int = 0
    answers: int = -1

    def timed_out(self, answers: int) -> "Silence":
        """After one call more without an answer; so many had come on its connection."""
        return Silence(self.timeouts + 1 if answers == self.answers else 1, answers)

    @property
    def is_doubtful(self) -> bool:
        """Whether the server must show now that it is there."""
        return self.timeouts >= TIMEOUTS_TO_DOUBT


def ping_seconds(tool_timeout_seconds: float) -> float:
    """How long a sign of life may take: 10 s, never longer than a call."""
    return min(tool_timeout_seconds, _LONGEST_PING_SECONDS)
