"""Reads the digest that names kept bytes."""

import re

from redshank_shared.domain.errors import Invalid

_SHAPE = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


def checked_digest(text: str) -> str:
    """The digest that this text means, with or without `sha256:` before it; else Invalid."""
    found = _SHAPE.fullmatch(text)
    if found is None:
        raise Invalid(
            "digest must be sha256: and 64 hex digits in small letters; "
            "copy it from the call's result",
            code="malformed_digest",
            field="digest",
        )
    return f"sha256:{found[1]}"
