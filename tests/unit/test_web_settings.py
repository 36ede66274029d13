"""What is set for web tools is checked at the start, the reranker's key is kept out of sight."""

from pathlib import Path

import pytest

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.load import load, secrets_of
from redshank_shared.settings.sections import Settings


def loaded(folder: Path, text: str, **environ: str) -> Settings:
    file = folder / "redshank.toml"
    file.write_text(text)
    return load(file, {"HOME": str(folder), **environ})


@pytest.mark.req("T-31", "T-32")
@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[tools]\nsearxng_url = 'searxng:8080'", "tools.searxng_url"),
        ("[rerank]\nurl = 'ftp://x/rerank'", "rerank.url"),
        ("[tools]\nweb_search_backend = 'bing'", "tools.web_search_backend"),
        ("[tools]\nweb_search_backend = 'mcp:kagi'", "tools.web_search_backend"),
        ("[tools]\nweb_search_backend = 'mcp::search'", "tools.web_search_backend"),
        ("[rerank]\nthreshold = 1.5", "rerank.threshold"),
        ("[tools]\nallow_private_network = 'yes'", "tools.allow_private_network"),
    ],
)
def test_what_cannot_be_is_named_at_the_start(text: str, field: str, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured) as caught:
        loaded(tmp_path, text)

    assert caught.value.field == field


@pytest.mark.parametrize("backend", ["", "searxng", "mcp:kagi:search"])
def test_backends_that_there_are_are_taken(backend: str, tmp_path: Path) -> None:
    settings = loaded(tmp_path, f"[tools]\nweb_search_backend = '{backend}'")

    assert settings.tools.web_search_backend == backend


@pytest.mark.req("T-32")
def test_the_rerankers_key_comes_from_its_slots_variable_and_is_a_secret(tmp_path: Path) -> None:
    text = "[rerank]\nurl = 'https://api.example/rerank'\napi_key_slot = 'rerank.main'"
    settings = loaded(tmp_path, text, REDSHANK_SLOT__RERANK_MAIN="k-canary")

    assert settings.rerank_key.reveal() == "k-canary"
    assert "k-canary" in secrets_of(settings)
    assert "k-canary" not in repr(settings)
