"""Reads a length of time as people write it."""

import re

from redshank_shared.domain.errors import Invalid

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_LENGTH = re.compile(r"([0-9]{1,9}) ?([smhd]?)")


def seconds_in(text: str, option: str) -> int:
    """The seconds in `90`, `90s`, `5m`, `1h` or `1d`; Invalid names the option."""
    found = _LENGTH.fullmatch(text.strip())
    if found is None:
        raise Invalid(
            f"{option} must be a whole number of seconds, or of s, m, h or d as in 5m; got {text}",
            field=option.lstrip("-"),
        )
    return int(found[1]) * _UNITS[found[2]]
