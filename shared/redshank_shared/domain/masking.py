"""What of a command line or an address may be shown, where a secret may stand in it (K-62)."""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit, urlunsplit

MASK = "***"

_WORDS = (
    "api[-_]?key",
    "access[-_]?key",
    "client[-_]?secret",
    "auth",
    "authorization",
    "bearer",
    "password",
    "secret",
    "token",
)
_SENSITIVE = re.compile(rf"(?:^|[-_.])(?:{'|'.join(_WORDS)})(?:$|[-_.])", re.IGNORECASE)


def is_sensitive_name(name: str) -> bool:
    """Whether what goes by this name (an option, a variable, a header) is probably a secret."""
    return _SENSITIVE.search(name) is not None


def shown_arguments(arguments: Sequence[str]) -> tuple[str, ...]:
    """A command's arguments, values of sensitive options masked: `--token=x`, `--api-key x`.

    The argument behind a sensitive option is its value, unless it begins with `-`.
    """
    shown: list[str] = []
    value_follows = False
    for argument in arguments:
        if value_follows and not argument.startswith("-"):
            shown.append(MASK)
            value_follows = False
            continue
        name, separator, _ = argument.partition("=")
        sensitive = is_sensitive_name(name.lstrip("-"))
        if sensitive and separator:
            shown.append(f"{name}={MASK}")
        else:
            shown.append(shown_url(argument) if "://" in argument else argument)
        value_follows = sensitive and not separator and argument.startswith("-")
    return tuple(shown)


def shown_url(url: str) -> str:
    """A URL with userinfo, query and fragment masked; masked whole where it cannot be read."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return MASK
    if not parts.scheme or not host:
        return MASK
    place = parts.netloc.rpartition("@")[2]
    userinfo = f"{MASK}@" if "@" in parts.netloc else ""
    return urlunsplit(
        (
            parts.scheme,
            userinfo + place,
            parts.path,
            MASK if parts.query else "",
            MASK if parts.fragment else "",
        )
    )
