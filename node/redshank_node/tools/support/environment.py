"""Chooses which of the node's environment variables a command may see."""

from collections.abc import Mapping

from redshank_shared.vault.variables import holds_secret, looks_secret

# Bash reads the file that these name before any command: what was approved must be all that runs.
_RUNS_FIRST = frozenset({"BASH_ENV", "ENV"})


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that look like no secret, by name, by a password in a URL, by what keys look
    like (T-20).

    Nothing of Redshank's own.
    """
    return {
        name: value
        for name, value in environment.items()
        if not (name in _RUNS_FIRST or looks_secret(name) or holds_secret(value))
    }
