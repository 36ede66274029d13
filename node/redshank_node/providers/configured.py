"""Makes the providers of all configured models."""

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from redshank_node.providers.choose import make
from redshank_node.providers.provider import ModelSettings, Provider
from redshank_node.providers.slot_keyed import FindKey, SlotKeyed
from redshank_shared.domain.errors import NotFound
from redshank_shared.settings.sections import Model, Settings

_OWN_HOSTS = {"openai": "api.openai.com", "anthropic": "api.anthropic.com"}


def make_all(settings: Settings, secret_of: Callable[[str], Awaitable[str]]) -> dict[str, Provider]:
    """A provider for each model by its name; `secret_of` gives a slot's secret.

    Misconfigured names the key to mend. What a slot holds is looked at when the model is asked.
    """
    return {model.name: _made(model, secret_of) for model in settings.models}


def _made(model: Model, secret_of: Callable[[str], Awaitable[str]]) -> Provider:
    settings = _settings_of(model)
    if not model.api_key_slot or model.api_key_env:
        return make(settings)
    make(settings)  # what does not depend on the key is refused at the start
    return SlotKeyed(settings, _finding(model, secret_of), make)


def _finding(model: Model, secret_of: Callable[[str], Awaitable[str]]) -> FindKey:
    """The vault's key; the slot's variable stands in for it while the vault never had one."""

    async def find_key() -> str:
        try:
            return await secret_of(model.api_key_slot)
        except NotFound:
            if not model.api_key:
                raise
            return model.api_key.reveal()

    return find_key


def sees_images(model: Model) -> bool:
    """Whether the model takes images: as it is set, else where its maker's own servers are asked
    (T-23).
    """
    said = model.capabilities.supports_vision
    if said is not None:
        return said
    host = urlsplit(model.base_url).hostname
    return model.provider in _OWN_HOSTS and host in (None, _OWN_HOSTS[model.provider])


def _settings_of(model: Model) -> ModelSettings:
    return ModelSettings(
        name=model.name,
        provider=model.provider,
        model=model.model or model.name,
        base_url=model.base_url,
        api_key=model.api_key.reveal(),
        context_window=model.context_window,
        max_output_tokens=model.max_output_tokens,
        thinking_tokens=model.thinking_tokens,
        timeout_seconds=model.timeout_seconds,
        supports_vision=sees_images(model),
        web_search=model.capabilities.web_search,
        tool_search=model.capabilities.tool_search,
    )
