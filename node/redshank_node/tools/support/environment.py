"""Chooses which of the node's environment variables a command may see."""

import re
from collections.abc import Mapping

_SECRET_WORDS = re.compile(
    r"APIKEY|COOKIES?|CREDENTIALS?|DSN|KEYS?|PASS|PASSPHRASE|PASSWD|PASSWORDS?|PAT|SECRETS?|TOKENS?"
)
_SECRET_LAST_WORDS = frozenset({"AUTH", "PWD", "PSK"})
_SECRET_ENDS = ("APIKEY", "PASSPHRASE", "PASSWD", "PASSWORD", "SECRET", "TOKEN")
_URL_WITH_PASSWORD = re.compile(r"://[^/@\s:]*:[^/@\s]+@")
# Bash reads the file that these name before any command: what was approved must be all that runs.
_RUNS_FIRST = frozenset({"BASH_ENV", "ENV"})


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that look like no secret, by name or by a password in a URL (T-20).

    Nothing of Redshank's own.
    """
    return {
        name: value
        for name, value in environment.items()
        if not (name in _RUNS_FIRST or looks_secret(name) or _URL_WITH_PASSWORD.search(value))
    }


def looks_secret(name: str) -> bool:
    """Whether a variable of this name may hold a secret, as `*_KEY` and `*PASSWORD*` may."""
    upper = name.upper()
    words = upper.split("_")
    return bool(
        upper.startswith("REDSHANK_")
        or "PASSWORD" in upper
        or upper.endswith(_SECRET_ENDS)
        or any(_SECRET_WORDS.fullmatch(word) for word in words)
        or (len(words) > 1 and words[-1] in _SECRET_LAST_WORDS and words[0])
    )
