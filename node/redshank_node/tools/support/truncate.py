"""Keeps texts within a number of UTF-8 bytes, never cutting within a character."""

from collections import deque


def head_of(text: str, max_bytes: int) -> str:
    """The longest beginning of the text that fits into so many bytes."""
    data = text.encode(errors="replace")
    return text if len(data) <= max_bytes else _head(data, max_bytes).decode()


def head_and_tail(text: str, each_bytes: int) -> str:
    """The text with a notice in the place of its middle: so many bytes before it, as many behind;
    the whole text where that is no longer.
    """
    data = text.encode(errors="replace")
    if len(data) <= 2 * each_bytes:
        return text
    first, last = _head(data, each_bytes), _tail(data, each_bytes)
    return first.decode() + notice(len(data) - len(first) - len(last)) + last.decode()


def notice(left_out_bytes: int) -> str:
    """The words that stand where a middle was."""
    return f"\n[... {left_out_bytes} bytes left out here ...]\n"


class HeadAndTail:
    """A growing text of which only the beginning and the end are kept, half of `max_bytes` each."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._half = max_bytes // 2
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_bytes = 0
        self.total_bytes = 0

    def add(self, text: str) -> None:
        """Append a piece; memory stays bounded however much comes."""
        data = text.encode(errors="replace")
        self.total_bytes += len(data)
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if not data:
            return
        self._tail.append(data)
        self._tail_bytes += len(data)
        while self._tail_bytes - len(self._tail[0]) > self._half:
            self._tail_bytes -= len(self._tail.popleft())

    def text(self, reserve_bytes: int = 0) -> tuple[str, bool]:
        """The whole within `max_bytes` less the reserve, and whether it was cut.

        A notice stands where the middle was.
        """
        limit = max(self._max_bytes - reserve_bytes, 0)
        tail = b"".join(self._tail)
        if self.total_bytes <= limit:
            return (bytes(self._head) + tail).decode(), False
        each = max((limit - len(notice(self.total_bytes))) // 2, 0)
        if self.total_bytes <= len(self._head) + len(tail):
            whole = bytes(self._head) + tail
            first, last = _head(whole, each), _tail(whole, each)
        else:
            first, last = _head(bytes(self._head), each), _tail(tail, each)
        words = notice(self.total_bytes - len(first) - len(last))
        return first.decode() + words + last.decode(), True


def _head(data: bytes, count: int) -> bytes:
    while 0 < count < len(data) and _continues(data[count]):
        count -= 1
    return data[: max(count, 0)]


def _tail(data: bytes, count: int) -> bytes:
    start = max(len(data) - count, 0)
    while start < len(data) and _continues(data[start]):
        start += 1
    return data[start:]


def _continues(byte: int) -> bool:
    return byte & 0xC0 == 0x80
