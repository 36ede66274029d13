"""Reads the master keys of the vault from where the operator keeps them."""

import os
import stat
from pathlib import Path

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.environment import VAULT_KEY
from redshank_shared.settings.sections import Settings

_FIELD = "vault.key_file"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def has_vault_key(settings: Settings) -> bool:
    """Whether a master key was named at all."""
    return bool(settings.vault_key or settings.vault.key_file)


def read_vault_keys(settings: Settings) -> str:
    """The keys as text: the environment's, else the file's as it is now, else nothing.

    Misconfigured (field `vault.key_file`) where the file cannot be read, or others may read it.
    """
    if settings.vault_key or not settings.vault.key_file:
        return settings.vault_key.reveal()
    path = Path(settings.vault.key_file).expanduser()
    try:
        with path.open(encoding="ascii") as file:
            _refuse_open_to_others(path, os.fstat(file.fileno()))
            return file.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(
            f"the master key of the vault cannot be read from {path} ({error}): name a file that "
            f"holds one with {_FIELD}, or give it by {VAULT_KEY}",
            field=_FIELD,
        ) from error


def _refuse_open_to_others(path: Path, found: os.stat_result) -> None:
    if found.st_uid == os.getuid() and found.st_mode & _OTHERS:
        raise Misconfigured(
            f"{path} holds the vault's master key, yet others may read it (mode "
            f"{stat.S_IMODE(found.st_mode):04o}): run `chmod 600 {path}`",
            code="vault_key_exposed",
            field=_FIELD,
        )
