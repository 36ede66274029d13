"""Images that every program can show, as small as they can be."""

import struct
import zlib


def whole_png(width: int, height: int) -> bytes:
    """A black PNG of this size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + bytes(width)) * height, 9)
    parts = (_chunk(b"IHDR", header), _chunk(b"IDAT", rows), _chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
