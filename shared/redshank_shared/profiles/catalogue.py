"""The catalogue: every canonical tool with what is true of it under any name."""

import functools
import importlib.resources
from collections.abc import Mapping
from typing import TypeVar

import msgspec

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.events import Effect

Written = TypeVar("Written")


class CatalogueTool(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool as every profile has it. `plan`: plan mode lists it (K-37, O4); `parallel`: it may run
    beside others of its batch (K-82); `aliases`: what else it is called, in any profile;
    `labelled_by`: the argument whose value is a call's label (O14).
    """

    effect: Effect
    plan: bool = False
    parallel: bool = False
    aliases: tuple[str, ...] = ()
    labelled_by: str = ""


@functools.cache
def catalogue() -> Mapping[str, CatalogueTool]:
    """Every canonical tool by its name."""
    return decoded("catalogue", shipped("catalogue"), _CatalogueFile).tools


def shipped(name: str) -> str:
    """The text of the data file of this name that lies beside this module."""
    files = importlib.resources.files("redshank_shared.profiles")
    return files.joinpath(f"{name}.toml").read_text(encoding="utf-8")


def decoded(name: str, text: str, kind: type[Written]) -> Written:
    """The text as TOML of this kind; Misconfigured names the file with the field to mend."""
    try:
        return msgspec.toml.decode(text, type=kind)
    except msgspec.DecodeError as error:
        raise Misconfigured(
            f"profile {name} cannot be read: {error}", code="profile_invalid", field=name
        ) from error


class _CatalogueFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tools: dict[str, CatalogueTool]
