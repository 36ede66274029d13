"""Reads the token that scrapes of /metrics must carry."""

from pathlib import Path

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.sections import Metrics

SHORTEST_TOKEN = 16


def metrics_token(settings: Metrics) -> str:
    """The token in the named file, empty where none is named; Misconfigured (field
    `metrics.token_file`) where it cannot be read or is shorter than 16 characters.
    """
    if not settings.token_file:
        return ""
    path = Path(settings.token_file).expanduser()
    try:
        token = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(
            f"the token for /metrics cannot be read from {path} ({error}); name a file that holds "
            f"one with metrics.token_file, or leave it empty",
            field="metrics.token_file",
        ) from error
    if len(token) < SHORTEST_TOKEN:
        raise Misconfigured(
            f"the token for /metrics in {path} has fewer than {SHORTEST_TOKEN} characters; "
            f"write a longer one, such as `openssl rand -hex 32` prints",
            field="metrics.token_file",
        )
    return token
