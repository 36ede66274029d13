"""Finds the models to ask: those configured, else those the environment implies, else the demo."""

from collections.abc import Mapping
from typing import Any

import msgspec

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.environment import slot_variable
from redshank_shared.settings.reading import section_from
from redshank_shared.settings.secret import Secret
from redshank_shared.settings.sections import Model, Settings
from redshank_shared.settings.vault import has_vault_key

SLOTS = "model."


def find_models(
    tables: Mapping[str, Any], where: str, environ: Mapping[str, str]
) -> tuple[Model, ...]:
    """The models of a process, never none; in a file's order, the first is the default."""
    if tables:
        return tuple(_model(name, table, where, environ) for name, table in tables.items())
    models = []
    if environ.get("OPENAI_API_KEY") or environ.get("OPENAI_BASE_URL"):
        models.append(
            Model(
                "openai",
                name="openai",
                model=environ.get("OPENAI_MODEL") or "gpt-4.1",
                base_url=environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1",
                api_key=Secret(environ.get("OPENAI_API_KEY", "")),
            )
        )
    if environ.get("ANTHROPIC_API_KEY"):
        models.append(
            Model(
                "anthropic",
                name="anthropic",
                model=environ.get("ANTHROPIC_MODEL") or "claude-sonnet-4-5",
                base_url=environ.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com",
                api_key=Secret(environ["ANTHROPIC_API_KEY"]),
            )
        )
    return tuple(models) or (Model("demo", name="demo", model="demo"),)


def check_keys(settings: Settings) -> None:
    """Misconfigured when a model names a key that is not to be found; for those who ask models.

    What the vault holds is not known here: a model whose slot is empty says so when it is asked.
    """
    for model in settings.models:
        if model.api_key:
            continue
        if model.api_key_env:
            raise Misconfigured(
                f"models.{model.name}.api_key_env names {model.api_key_env}, which is not "
                f"set: set that environment variable, or remove the key if the server wants none",
                field=f"models.{model.name}.api_key_env",
            )
        if model.api_key_slot and not has_vault_key(settings):
            raise Misconfigured(
                f"models.{model.name}.api_key_slot names the slot {model.api_key_slot}, yet there "
                f"is no vault to look in: name its master key with vault.key_file, or set the "
                f"variable {slot_variable(model.api_key_slot)}",
                field=f"models.{model.name}.api_key_slot",
            )


def _model(name: str, table: Any, where: str, environ: Mapping[str, str]) -> Model:
    dotted = f"models.{name}"
    if not isinstance(table, dict):
        raise Misconfigured(f"{where}: write [{dotted}] with its keys below", field=dotted)
    if "provider" not in table:
        raise Misconfigured(
            f'{where}: [{dotted}] needs provider = "openai", "anthropic" or "demo"',
            field=f"{dotted}.provider",
        )
    model = section_from(Model, table, f"{where}: [{dotted}]", dotted)
    assert isinstance(model, Model)
    if not model.model and model.provider in ("openai", "anthropic"):
        raise Misconfigured(
            f"{where}: [{dotted}] needs model, the name that the server knows it by",
            field=f"{dotted}.model",
        )
    if model.api_key_slot and not model.api_key_slot.startswith(SLOTS):
        raise Misconfigured(
            f"{where}: {dotted}.api_key_slot is {model.api_key_slot}, outside its namespace: name "
            f"a slot that begins with {SLOTS}, such as {SLOTS}{name}",
            field=f"{dotted}.api_key_slot",
        )
    variable = model.api_key_env or (
        slot_variable(model.api_key_slot) if model.api_key_slot else ""
    )
    return msgspec.structs.replace(
        model, name=name, model=model.model or name, api_key=Secret(environ.get(variable, ""))
    )
