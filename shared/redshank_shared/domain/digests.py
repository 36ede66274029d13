"""What an approval is bound to: the digest of a call's input."""

import hashlib

import msgspec


def input_digest(canonical: str, arguments: str) -> str:
    """`sha256:` and the hex digest of the canonical tool name and its arguments (JSON text,
    whatever its key order); of the text itself where it is no JSON or nested too deeply.
    """
    try:
        body = msgspec.json.encode([canonical, msgspec.json.decode(arguments)], order="sorted")
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        body = f"{canonical}\0{arguments}".encode(errors="surrogatepass")
    return "sha256:" + hashlib.sha256(body).hexdigest()
