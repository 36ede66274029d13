"""Chooses which of the node's environment variables a command may see."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from redshank_shared.settings.environment import PREFIX
from redshank_shared.vault.variables import holds_secret, looks_secret

# Bash reads the file that these name before any command: what was approved must be all that runs.
_RUNS_FIRST = frozenset({"BASH_ENV", "ENV"})
_USUAL_PATH = "/usr/local/bin:/usr/bin:/bin"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


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


def rebuilt(
    environment: Mapping[str, str], workspace: Path, passed: Iterable[str], own: str
) -> dict[str, str]:
    """An environment of nothing but what is said: PATH, HOME, LANG, LC_ALL, the node's variables of
    these names, then those of `own`, the text of the workspace's `.env` (C-11).

    Nothing of Redshank's own is passed; `own` sets nothing that decides which program runs.
    """
    built = {
        "PATH": search_path(environment.get("PATH", ""), workspace),
        "HOME": str(workspace),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
    }
    for name in passed:
        if name in environment and not name.startswith(PREFIX) and not _decides(name):
            built[name] = environment[name]
    return {**built, **_variables(own)}


def search_path(path: str, workspace: Path) -> str:
    """The folders of a PATH in which no agent can put a program."""
    folders = [
        folder
        for folder in path.split(":")
        if folder.startswith("/") and not Path(folder).is_relative_to(workspace)
    ]
    return ":".join(folders) or _USUAL_PATH


def _variables(text: str) -> dict[str, str]:
    found = {}
    for line in text.splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        name, value = name.strip(), value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        if equals and _NAME.fullmatch(name) and not _decides(name) and "\0" not in value:
            found[name] = value
    return found


def _decides(name: str) -> bool:
    return name in _RUNS_FIRST or name == "PATH" or name.startswith("LD_")
