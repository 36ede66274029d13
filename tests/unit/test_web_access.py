"""Which keys the reranker, the media models are asked with."""

import pytest

from redshank_node.engine.media_routes import media_routes
from redshank_node.engine.web_access import web_access
from redshank_shared.domain.errors import NotFound
from redshank_shared.settings.models import find_models
from redshank_shared.settings.sections import SECTIONS, Settings

MODEL = {
    "provider": "openai",
    "model": "painter-1",
    "api_key_slot": "model.painter",
    "capabilities": {"image_generation": True},
}


def settings(environment: dict[str, str]) -> Settings:
    sections = {name: kind() for name, kind in SECTIONS.items()}
    sections["rerank"] = SECTIONS["rerank"](api_key_slot="rerank.main")  # type: ignore[call-arg]
    models = find_models({"painter": MODEL}, "test", environment)
    return Settings(**sections, models=models, given=frozenset())  # type: ignore[arg-type]


async def from_vault(slot: str) -> str:
    return f"vault {slot}"


async def never_set(slot: str) -> str:
    raise NotFound(f"there is no secret {slot}")


@pytest.mark.req("K-17")
async def test_a_media_model_is_asked_with_the_key_that_the_vault_has() -> None:
    (route,) = media_routes(settings({"REDSHANK_SLOT__MODEL_PAINTER": "old"}), from_vault)
    assert (route.name, route.backend, route.model) == ("painter", "openai", "painter-1")
    assert await route.find_key() == "vault model.painter"


@pytest.mark.req("K-17")
async def test_the_variable_of_a_slot_stands_in_while_the_vault_never_had_it() -> None:
    (route,) = media_routes(settings({"REDSHANK_SLOT__MODEL_PAINTER": "old"}), never_set)
    assert await route.find_key() == "old"
    (without,) = media_routes(settings({}), never_set)
    with pytest.raises(NotFound, match=r"model\.painter"):
        await without.find_key()


@pytest.mark.req("T-32")
async def test_the_reranker_is_asked_with_the_key_of_its_slot_or_not_at_all() -> None:
    access = web_access(settings({}), from_vault)
    assert access.find_rerank_key is not None
    assert await access.find_rerank_key() == "vault rerank.main"
    without = web_access(settings({}), never_set)
    assert without.find_rerank_key is not None
    with pytest.raises(NotFound, match=r"rerank\.main"):
        await without.find_rerank_key()
