"""Asks for the process's environment, so that nothing else has to."""

import ctypes
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

PREFIX = "REDSHANK_"
VAULT_KEY = f"{PREFIX}VAULT__KEY"
VAULT_KEY_FILE = f"{VAULT_KEY}_FILE"
_SET_DUMPABLE = 4


def process_environment() -> dict[str, str]:
    """A copy of this process's environment."""
    return dict(os.environ)  # noqa: TID251 - the one place that reads it


def hide_process() -> None:
    """Keep this process's environment and memory from other processes of its user, such as the
    commands that agents run (law 7): they read them in /proc otherwise.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def config_folder(environ: Mapping[str, str]) -> Path:
    """Where a person's contexts and configuration lie."""
    root = environ.get("XDG_CONFIG_HOME") or str(Path(environ.get("HOME", "~")) / ".config")
    return Path(root).expanduser() / "redshank"


def data_folder(environ: Mapping[str, str]) -> Path:
    """Where one machine's Redshank keeps its data unless told otherwise."""
    root = environ.get("XDG_DATA_HOME") or str(Path(environ.get("HOME", "~")) / ".local/share")
    return Path(root).expanduser() / "redshank"


def config_path(path: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The file to read: the one named, else REDSHANK_CONFIG's, else the config folder's, else none.

    Never one in the current folder: an agent may write there.
    """
    named = path or (Path(environ["REDSHANK_CONFIG"]) if environ.get("REDSHANK_CONFIG") else None)
    if named is not None:
        return named
    usual = config_folder(environ) / "redshank.toml"
    return usual if usual.is_file() else None


def slot_variable(slot: str) -> str:
    """The environment variable of a slot: REDSHANK_SLOT__MODEL_MAIN for model.main."""
    return f"{PREFIX}SLOT__{re.sub(r'[^A-Z0-9]+', '_', slot.upper())}"
