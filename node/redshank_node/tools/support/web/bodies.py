"""Unpacks a body as it comes, never more of it than was asked for."""

import zlib

_ANY_ZLIB = zlib.MAX_WBITS | 32
_BARE = -zlib.MAX_WBITS
_MOST_MEMBERS = 256
_GZIP = b"\x1f\x8b"


class UnknownEncoding(Exception):
    """The body cannot be unpacked. The message says why."""


class Unpacker:
    """Grows to at most `most_bytes`, however little is packed to however much (K-13)."""

    def __init__(self, encoding: str, most_bytes: int) -> None:
        """UnknownEncoding for one that nobody asked for."""
        self._most_bytes = most_bytes
        self._body = bytearray()
        self._packed_bytes = 0
        self._begun = False
        self._members = 1
        name = encoding.strip().lower()
        if name not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise UnknownEncoding(f"it is packed as {encoding[:50]!r}, which was not asked for")
        self._zlib = None if name in ("", "identity") else zlib.decompressobj(_ANY_ZLIB)

    @property
    def is_full(self) -> bool:
        """Whether there was more than may be kept."""
        return len(self._body) > self._most_bytes or self._packed_bytes > self._most_bytes

    @property
    def is_unfinished(self) -> bool:
        """Whether what is packed breaks off."""
        return self._zlib is not None and self._begun and not self._zlib.eof

    def feed(self, piece: bytes) -> None:
        """Take the next piece; UnknownEncoding where it is not what its header says."""
        self._packed_bytes += len(piece)
        room = self._most_bytes + 1 - len(self._body)
        if room <= 0:
            return
        self._body += piece[:room] if self._zlib is None else self._unpacked(piece, room)

    def body(self) -> bytes:
        """What was kept."""
        return bytes(self._body[: self._most_bytes])

    def _unpacked(self, piece: bytes, room: int) -> bytes:
        assert self._zlib is not None
        try:
            found = self._zlib.decompress(piece, room)
        except zlib.error as error:
            if self._body or self._begun:
                raise UnknownEncoding("its packed body is damaged") from error
        else:
            return found + self._following(room - len(found))
        finally:
            self._begun = True
        # Some send what deflate means by itself, without the header that HTTP asks for.
        self._zlib = zlib.decompressobj(_BARE)
        try:
            return self._zlib.decompress(piece, room)
        except zlib.error as error:
            raise UnknownEncoding("its packed body is damaged") from error

    def _following(self, room: int) -> bytes:
        """What stands in further members of a gzip, as far as they have come."""
        found = b""
        while self._zlib is not None and self._zlib.unused_data[:2] == _GZIP and room > len(found):
            packed, self._members = self._zlib.unused_data, self._members + 1
            if self._members > _MOST_MEMBERS:
                raise UnknownEncoding(f"it is packed in more than {_MOST_MEMBERS} parts")
            self._zlib = zlib.decompressobj(_ANY_ZLIB)
            try:
                found += self._zlib.decompress(packed, room - len(found))
            except zlib.error as error:
                raise UnknownEncoding("its packed body is damaged") from error
        return found
