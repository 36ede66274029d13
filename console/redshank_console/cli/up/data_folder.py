"""One machine's data: the folder that one `redshank up` at a time holds, with its keys."""

import base64
import fcntl
import os
import secrets
from pathlib import Path
from typing import TextIO

from redshank_shared.domain.errors import Conflict, Misconfigured

TOKEN_BYTES = 32
KEY_BYTES = 32
VAULT_KEY = "vault.key"


class DataFolder:
    """A folder held by this process until it ends, however it ends."""

    def __init__(self, path: Path, lock: TextIO) -> None:
        self.path = path
        self._lock = lock

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    def release(self) -> None:
        """Let another process hold the folder."""
        self._lock.close()


def hold(path: Path) -> DataFolder:
    """Take the folder, made if it is not there (mode 0700).

    Conflict names the process that holds it; Misconfigured says why it cannot be used.
    """
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        (path / "logs").mkdir(exist_ok=True, mode=0o700)
        lock = open(path / "up.lock", "a+", encoding="utf-8")  # noqa: SIM115 - held for life
    except OSError as error:
        raise Misconfigured(
            f"the data folder {path} cannot be used ({error.strerror}): choose another with --data",
            field="data",
        ) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.seek(0)
        holder = lock.read().strip() or "unknown"
        lock.close()
        raise Conflict(
            f"another `redshank up` (pid {holder}) already runs on {path}: stop it first, or "
            f"choose another folder with --data",
            code="data_in_use",
            field="data",
        ) from error
    lock.truncate(0)
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return DataFolder(path, lock)


def admin_token(path: Path) -> str:
    """The first admin's token, made once (mode 0600), kept for ever."""
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"rs_{secrets.token_urlsafe(TOKEN_BYTES)}\n")
    except FileExistsError:
        path.chmod(0o600)
    except OSError as error:
        raise Misconfigured(
            f"the admin token {path} cannot be written ({error.strerror}): mend "
            f"console.admin_token_file or --data",
            field="console.admin_token_file",
        ) from error
    return path.read_text(encoding="utf-8").strip()


def make_vault_key(path: Path) -> None:
    """A master key for the vault, made once (mode 0600), kept for ever: without it no secret opens.

    A file that is there is left as it is.
    """
    key = base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{key}\n")
    except FileExistsError:
        return
    except OSError as error:
        raise Misconfigured(
            f"the master key {path} cannot be written ({error.strerror}): name another file with "
            f"vault.key_file, or mend --data",
            field="vault.key_file",
        ) from error
