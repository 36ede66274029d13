"""Finds the key that a reranker is asked with."""

from collections.abc import Mapping

from redshank_shared.settings.environment import slot_variable
from redshank_shared.settings.secret import Secret
from redshank_shared.settings.sections import Rerank


def find_rerank_key(rerank: Rerank, environ: Mapping[str, str]) -> Secret:
    """What the variable of the reranker's slot says; empty where it has none."""
    if not rerank.api_key_slot:
        return Secret()
    return Secret(environ.get(slot_variable(rerank.api_key_slot), "").strip())
