"""The key with which the nodes of one `redshank up` sign the ledger."""

from collections.abc import Mapping
from pathlib import Path

from redshank_shared.ledger.signing import make_key_file, read_key
from redshank_shared.settings.sections import Settings

KEY_FILE = "ledger.key"
VARIABLE = "REDSHANK_LEDGER__KEY_FILE"


def with_ledger_key(
    settings: Settings, environ: Mapping[str, str], folder: Path
) -> Mapping[str, str]:
    """The environment in which all nodes sign with one key: the one that the operator names, else
    that of the data folder, made at the first start. Misconfigured where it cannot be used.
    """
    named = settings.ledger.key_file
    path = Path(named).expanduser() if named else folder / KEY_FILE
    if not named:
        make_key_file(path)
    read_key(path)
    return {**environ, VARIABLE: str(path.resolve())}
