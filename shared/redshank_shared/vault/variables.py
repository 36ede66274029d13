"""Tells which environment variables may hold a secret, by their names or their values."""

import re
from collections.abc import Mapping

from redshank_shared.vault.shapes import CERTAIN, masked_shapes

_WORDS = re.compile(
    r"APIKEY|COOKIES?|CREDENTIALS?|DSN|KEYS?|PASS|PASSPHRASE|PASSWD|PASSWORDS?|PAT|SECRETS?|TOKENS?"
)
_LAST_WORDS = frozenset({"AUTH", "PWD", "PSK"})
_ENDS = (
    "APIKEY",
    "PASSPHRASE",
    "PASSWD",
    "PASSWORD",
    "SECRET",
    "TOKEN",
    "DATABASE_URL",
    "REDIS_URL",
    "MONGODB_URI",
    "AMQP_URL",
    "WEBHOOK_URL",
    "CONNECTION_STRING",
)
_OURS = "REDSHANK_"
_URL_WITH_PASSWORD = re.compile(r"://[^/@\s:]*:[^/@\s]+@")
# Shorter ones, paths and plain numbers under such names are settings, not secrets.
_SHORTEST = 8
_NO_SECRET = re.compile(r"[/~.].*|\d+|\w+\.(?:key|pem|crt|json)", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]{0,12}")


def looks_secret(name: str) -> bool:
    """Whether a variable of this name may hold a secret, as `*_KEY` and `*PASSWORD*` may."""
    upper = name.upper()
    words = upper.split("_")
    return bool(
        upper.startswith(_OURS)
        or "PASSWORD" in upper
        or upper.endswith(_ENDS)
        or any(_WORDS.fullmatch(word) for word in words)
        or (len(words) > 1 and words[-1] in _LAST_WORDS and words[0])
    )


def holds_secret(value: str) -> bool:
    """Whether a variable's value is one by its own look: a password in a URL, a key's shape."""
    return bool(_URL_WITH_PASSWORD.search(value)) or masked_shapes(value, CERTAIN) != value


def secret_values(environment: Mapping[str, str]) -> list[str]:
    """What no text of this process may show of its environment.

    Our own variables are settings; those that are secrets are found by what they set.
    """
    return [
        value
        for name, value in environment.items()
        if looks_secret(name)
        and not name.startswith(_OURS)
        and len(value) >= _SHORTEST
        and not _NO_SECRET.fullmatch(value)
        and not is_plain_word(value)
    ]


def is_plain_word(value: str) -> bool:
    """Whether it is a word such as `postgres`: masking it wherever it stands would eat text and
    tell what it is.
    """
    return bool(_WORD.fullmatch(value))
