"""Bytes that are kept for a workstream."""

import msgspec


class KeptBytes(msgspec.Struct, frozen=True):
    """What is kept under a digest."""

    digest: str
    media_type: str
    body: bytes
