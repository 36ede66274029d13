"""What an approval is bound to: the digest of a call's input."""

import hashlib

import msgspec


def input_digest(canonical: str, arguments: str) -> str:
    """`sha256:` and the hex digest of the canonical tool name and its arguments (JSON text,
    whatever its key order).
    """
    try:
        parsed = msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        parsed = arguments
    body = msgspec.json.encode([canonical, parsed], order="sorted")
    return "sha256:" + hashlib.sha256(body).hexdigest()
