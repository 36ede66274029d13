"""Makes a process's vault from its settings, with what keeps secrets out of its texts."""

import contextlib
import functools
from collections.abc import Mapping
from pathlib import Path

from redshank_shared.domain.masking import is_sensitive_name
from redshank_shared.settings.load import secrets_of
from redshank_shared.settings.sections import Settings
from redshank_shared.settings.vault import read_vault_keys
from redshank_shared.stores.database import Database
from redshank_shared.stores.live_secrets import LiveSecrets
from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.sealing import Vault, key_texts
from redshank_shared.vault.variables import is_plain_word, looks_secret, secret_values


def vault_of(settings: Settings) -> Vault:
    """The vault under the master keys that the settings lead to."""
    return Vault(functools.partial(read_vault_keys, settings))


def redactor_of(settings: Settings, environ: Mapping[str, str] | None = None) -> Redactor:
    """Knows every secret that the settings lead to: keys, passwords, tokens, master keys; those of
    the environment.

    Misconfigured where the master key cannot be read.
    """
    redactor = Redactor(value for value in secrets_of(settings) if not is_plain_word(value))
    redactor.learn(*secret_values(environ or {}), *key_texts(read_vault_keys(settings)))
    for server in settings.mcp_servers:
        redactor.learn(*_secret_headers(server.headers), *secret_values(server.env))
    for file in (settings.console.admin_token_file, settings.metrics.token_file):
        # Whoever needs the token says what is wrong with its file.
        with contextlib.suppress(OSError, UnicodeDecodeError):
            redactor.learn(Path(file).expanduser().read_text() if file else "")
    return redactor


def _secret_headers(headers: Mapping[str, str]) -> list[str]:
    """The values of those that are named like secrets, with a scheme before them and without."""
    found = [
        value
        for name, value in headers.items()
        if is_sensitive_name(name) or looks_secret(name.replace("-", "_"))
    ]
    return [*found, *(value.rpartition(" ")[2] for value in found)]


def live_secrets(settings: Settings, database: Database, redactor: Redactor) -> LiveSecrets:
    """The slots as this process uses them."""
    learn, passing = redactor.learn, redactor.learn_passing
    return LiveSecrets(database, vault_of(settings), learn, passing)
