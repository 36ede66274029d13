"""Makes the provider that a model's settings ask for."""

from typing import assert_never
from urllib.parse import urlsplit

import msgspec

from redshank_node.providers.anthropic import Anthropic
from redshank_node.providers.demo import Demo
from redshank_node.providers.openai import OpenAI
from redshank_node.providers.provider import ModelSettings, Provider
from redshank_node.providers.responses import Responses
from redshank_node.providers.scripted import read_script
from redshank_shared.domain.errors import Misconfigured


def make(settings: ModelSettings) -> Provider:
    """The provider of one configured model. Raises Misconfigured, which names the key to mend."""
    match settings.provider:
        case "openai":
            # Only this wire has a search for tools.
            kind = Responses if settings.tool_search else OpenAI
            return kind(_checked(settings))
        case "anthropic":
            return Anthropic(_checked(settings))
        case "demo":
            return Demo(settings)
        case "scripted":
            return read_script(settings)
        case unknown:
            assert_never(unknown)


def _checked(settings: ModelSettings) -> ModelSettings:
    where = f"models.{settings.name}"
    if not settings.model:
        raise Misconfigured(
            f"{where}.model is empty: set it to the model's name at its server.",
            field=f"{where}.model",
        )
    if settings.base_url:
        _check_address(settings.base_url, f"{where}.base_url")
    key = settings.api_key.strip()
    if not key.isascii() or not key.isprintable():
        raise Misconfigured(
            f"The key of {where} holds characters that no key has: set it again, without quotes "
            "or line breaks.",
            field=f"{where}.api_key_slot",
        )
    return msgspec.structs.replace(settings, api_key=key, base_url=settings.base_url.strip())


def _check_address(address: str, field: str) -> None:
    if not _is_address(address.strip()):
        raise Misconfigured(
            f"{field} must be an address such as http://127.0.0.1:8000/v1.", field=field
        )


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and " " not in text
