"""A model whose key lies in a slot: looked up at each question, over real HTTP."""

import asyncio
import contextlib

import msgspec
import pytest

from redshank_node.providers.choose import make
from redshank_node.providers.configured import make_all
from redshank_node.providers.provider import Answer, ModelFailed, Provider
from redshank_node.providers.slot_keyed import SlotKeyed
from redshank_shared.domain.errors import Conflict, Misconfigured, NotFound, Unavailable
from redshank_shared.settings.load import load
from redshank_shared.settings.sections import Settings
from tests.contract.provider_asking import question, settings
from tests.fakes.model_server import ModelServer, Reply, chunk, events, model_server

HELLO = Reply(events(chunk({"content": "hello"}), chunk(finish="stop"), "[DONE]"), end="keep")
SLOW = Reply(events(chunk({"content": "hel"})), end="silent")


class Slot:
    """A slot whose content the test decides."""

    def __init__(self, key: str | Exception) -> None:
        self.key = key

    async def find(self) -> str:
        if isinstance(self.key, Exception):
            raise self.key
        return self.key

    async def named(self, slot: str) -> str:
        assert slot == "model.main"
        return await self.find()


async def ask(provider: Provider) -> str:
    items = [item async for item in provider.stream(question())]
    assert isinstance(items[-1], Answer)
    return items[-1].text


def keys_sent(server: ModelServer) -> list[str]:
    return [asked.headers["authorization"].removeprefix("Bearer ") for asked in server.requests]


def keyed(server: ModelServer, slot: Slot) -> SlotKeyed:
    unkeyed = msgspec.structs.replace(settings(server, "openai"), api_key="")
    return SlotKeyed(unkeyed, slot.find, make)


async def test_a_key_that_is_set_anew_is_sent_with_the_next_question() -> None:
    slot = Slot("canary-first")
    async with model_server(HELLO) as server:
        provider = keyed(server, slot)
        assert await ask(provider) == await ask(provider) == "hello"
        slot.key = "canary-second"
        await ask(provider)
        await provider.close()
    assert keys_sent(server) == ["canary-first", "canary-first", "canary-second"]


async def test_a_question_under_way_goes_on_while_the_key_changes() -> None:
    slot = Slot("canary-first")
    async with model_server(SLOW, HELLO) as server:
        provider = keyed(server, slot)
        async with contextlib.aclosing(provider.stream(question())) as first:  # type: ignore[type-var]  # it is a generator
            await anext(first)
            slot.key = "canary-second"
            assert await ask(provider) == "hello"
            assert not server.left.is_set()
        async with asyncio.timeout(30):
            await server.left.wait()
        await provider.close()


@pytest.mark.fault("F-12")
@pytest.mark.parametrize(
    ("why", "code", "retry"),
    [
        (NotFound("it is empty: set it", code="secret_missing"), "secret_missing", False),
        (Conflict("it was revoked: set it", code="secret_revoked"), "secret_revoked", False),
        (Misconfigured("no key opens it", code="vault_key_unknown"), "secret_unreadable", False),
        (Unavailable("no database"), "unavailable", True),
    ],
)
async def test_without_a_key_the_model_is_not_asked(why: Exception, code: str, retry: bool) -> None:
    slot = Slot("canary-first")
    async with model_server(HELLO) as server:
        provider = keyed(server, slot)
        await ask(provider)
        slot.key = why
        with pytest.raises(ModelFailed) as failed:
            await ask(provider)
        await provider.close()
    assert (failed.value.code, failed.value.retry) == (code, retry)
    assert str(why) in failed.value.detail
    assert "canary" not in failed.value.detail
    assert len(server.requests) == 1


@pytest.mark.fault("F-12")
async def test_a_key_that_no_header_carries_is_refused_without_being_shown() -> None:
    async with model_server(HELLO) as server:
        provider = keyed(server, Slot("canary\nwith a line end"))
        with pytest.raises(ModelFailed) as failed:
            await ask(provider)
    assert failed.value.code == "secret_unreadable"
    assert "canary" not in failed.value.detail


def configured(url: str, **environ: str) -> Settings:
    given = {
        "REDSHANK_MODELS__MAIN__PROVIDER": "openai",
        "REDSHANK_MODELS__MAIN__MODEL": "m",
        "REDSHANK_MODELS__MAIN__BASE_URL": url,
        "REDSHANK_MODELS__MAIN__API_KEY_SLOT": "model.main",
    }
    return load(None, {"HOME": "/nowhere", **given, **environ})


async def test_the_vault_goes_before_the_slot_s_variable() -> None:
    slot = Slot(NotFound("it is empty", code="secret_missing"))
    async with model_server(HELLO) as server:
        told = configured(f"{server.url}/v1", REDSHANK_SLOT__MODEL_MAIN="canary-variable")
        provider = make_all(told, slot.named)["main"]
        await ask(provider)
        slot.key = "canary-vault"
        await ask(provider)
        slot.key = Conflict("it was revoked", code="secret_revoked")
        with pytest.raises(ModelFailed):
            await ask(provider)
        await provider.close()
    assert keys_sent(server) == ["canary-variable", "canary-vault"]


def test_an_address_that_is_none_is_refused_at_the_start() -> None:
    with pytest.raises(Misconfigured, match=r"models\.main\.base_url"):
        make_all(configured("nonsense"), Slot("canary").named)
