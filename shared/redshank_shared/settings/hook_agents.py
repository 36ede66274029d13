"""Reads the agent of a [[hooks]] table, naming what is wrong with it."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.hooks import MOST_STEPS, Hook, HookAgent
from redshank_shared.settings.reading import nearest

_TAKES = {
    "prompt": "a text that says what it decides by",
    "model": "the name of a model",
    "steps": f"a whole number from 1 to {MOST_STEPS}",
}
_LISTS = ("allow", "deny")


def agent_of(table: Any, about: str, dotted: str) -> HookAgent:
    """The agent that is declared so; Misconfigured names the hook, the key and the mend.

    Without a tool_surface it has no tools. One that only denies is refused: it would leave every
    other tool open, those of tomorrow among them (K-79).
    """
    if not isinstance(table, dict):
        raise Misconfigured(f"{about}: agent takes a table", field=dotted)
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key == "tool_surface":
            values["tools"] = _tools(value, about, f"{dotted}.tool_surface")
        else:
            values[key] = _value(key, value, about, f"{dotted}.{key}")
    if not str(values.get("prompt", "")).strip():
        raise Misconfigured(
            f"{about}: agent needs prompt, {_TAKES['prompt']}", field=f"{dotted}.prompt"
        )
    return HookAgent(**values)


def check_models(hooks: Iterable[Hook], models: Iterable[str], where: str) -> None:
    """Misconfigured where an agent's model is none of these."""
    known = list(models)
    for index, hook in enumerate(hooks):
        wanted = hook.agent.model if hook.agent else ""
        if wanted and wanted not in known:
            raise Misconfigured(
                f"{where}: hook {hook.name}: there is no model {wanted}{nearest(wanted, known)}",
                field=f"hooks[{index}].agent.model",
            )


def _value(key: str, value: Any, about: str, dotted: str) -> Any:
    types = {field.name: field.type for field in msgspec.structs.fields(HookAgent)}
    if key not in _TAKES:
        raise Misconfigured(
            f"{about}: agent has no key {key}{nearest(key, [*_TAKES, 'tool_surface'])}",
            field=dotted,
        )
    try:
        return msgspec.convert(value, types[key])
    except msgspec.ValidationError as error:
        raise Misconfigured(
            f"{about}: agent.{key} is {value!r}; it takes {_TAKES[key]}", field=dotted
        ) from error


def _tools(surface: Any, about: str, dotted: str) -> tuple[str, ...]:
    """What is allowed less what is denied, in the order given."""
    lists = _lists(surface, about, dotted)
    if not lists["allow"]:
        raise Misconfigured(
            f"{about}: a tool_surface without allow would leave all other tools open; name the "
            f"tools in allow, or leave tool_surface out for none",
            field=f"{dotted}.allow",
        )
    return tuple(name for name in dict.fromkeys(lists["allow"]) if name not in lists["deny"])


def _lists(surface: Any, about: str, dotted: str) -> Mapping[str, list[str]]:
    if not isinstance(surface, dict) or not set(surface) <= set(_LISTS):
        raise Misconfigured(f"{about}: tool_surface takes the lists allow and deny", field=dotted)
    lists: dict[str, list[str]] = {}
    for key in _LISTS:
        try:
            lists[key] = msgspec.convert(surface.get(key, []), list[str])
        except msgspec.ValidationError as error:
            raise Misconfigured(
                f"{about}: {key} is {surface[key]!r}; it takes a list of tools' names",
                field=f"{dotted}.{key}",
            ) from error
        for name in lists[key]:
            if "*" in name or name.startswith("@") or not name.strip():
                raise Misconfigured(
                    f"{about}: {key} has {name!r}; each tool is named whole, since a pattern would "
                    f"take in tools that do not exist yet",
                    field=f"{dotted}.{key}",
                )
    return lists
