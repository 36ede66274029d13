"""Reads the [[hooks]] tables, naming what is wrong with one."""

import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.hook_agents import agent_of
from redshank_shared.settings.hooks import AGENT_SECONDS, DECISION_SECONDS, MOST_RETRIES, Hook
from redshank_shared.settings.reading import nearest

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_TAKES = {
    "name": "a text",
    "event": '"permission_request" or "permission_denied"',
    "tools": 'a pattern such as "mcp__*", or a list of them',
    "command": 'a list of words such as ["/usr/local/bin/gate", "--strict"]',
    "url": "a text",
    "timeout_seconds": f"a number of seconds above 0, at most {DECISION_SECONDS:g}",
    "retries": f"a whole number from 0 to {MOST_RETRIES}",
    "failure_policy": '"open" or "closed"',
    "allow_private": "true or false",
}


def find_hooks(tables: Any, where: str) -> tuple[Hook, ...]:
    """The hooks in the order in which they are declared; Misconfigured names the hook, the key and
    the mend (K-80).
    """
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise Misconfigured(
            f"{where}: hooks is a list of tables: write [[hooks]] above each", field="hooks"
        )
    hooks = tuple(_hook(table, index, where) for index, table in enumerate(tables))
    _refuse_same_names(hooks, where)
    return hooks


def _hook(table: Mapping[str, Any], index: int, where: str) -> Hook:
    dotted = f"hooks[{index}]"
    about = f"{where}: hook {table.get('name') or _number(index)}"
    values: dict[str, Any] = {}
    for key, value in table.items():
        values[key] = _value(key, value, about, f"{dotted}.{key}")
    for key in ("name", "event"):
        if key not in values:
            raise Misconfigured(f"{about} needs {key}, {_TAKES[key]}", field=f"{dotted}.{key}")
    if "agent" in values:
        values.setdefault("timeout_seconds", AGENT_SECONDS)
    hook = Hook(**values)
    if not _NAME.fullmatch(hook.name):
        raise Misconfigured(
            f"{about}: name must be letters, digits, `_`, `.` or `-`, at most 64 of them",
            field=f"{dotted}.name",
        )
    _check_tools(hook, about, dotted)
    _check_target(hook, about, dotted)
    return hook


def _number(index: int) -> str:
    """How a hook without a name is called."""
    return f"number {index + 1}"


def _value(key: str, value: Any, about: str, dotted: str) -> Any:
    types = {field.name: field.type for field in msgspec.structs.fields(Hook)}
    if key not in types:
        raise Misconfigured(f"{about} has no key {key}{nearest(key, types)}", field=dotted)
    if key == "agent":
        return agent_of(value, about, dotted)
    if key == "tools" and isinstance(value, str):
        value = [value]
    try:
        return msgspec.convert(value, types[key])
    except msgspec.ValidationError as error:
        raise Misconfigured(
            f"{about}: {key} is {value!r}; it takes {_TAKES[key]}", field=dotted
        ) from error


def _check_tools(hook: Hook, about: str, dotted: str) -> None:
    if not hook.tools:
        raise Misconfigured(
            f'{about}: tools is empty, so it would never be asked; leave it out for "*"',
            field=f"{dotted}.tools",
        )


def _check_target(hook: Hook, about: str, dotted: str) -> None:
    if bool(hook.command) + bool(hook.url) + (hook.agent is not None) != 1:
        raise Misconfigured(
            f"{about} needs one of command, url and agent: command is run, url is posted to, agent "
            f"is a model that is asked",
            field=f"{dotted}.command",
        )
    if hook.command:
        _check_command(hook.command, about, f"{dotted}.command")
    elif hook.url:
        _check_url(hook.url, about, f"{dotted}.url")


def _check_command(command: tuple[str, ...], about: str, dotted: str) -> None:
    if not command[0] or any("\0" in word for word in command):
        raise Misconfigured(
            f"{about}: command's first word is the program; none may hold a NUL", field=dotted
        )
    if "/" in command[0] and not command[0].startswith("/"):
        raise Misconfigured(
            f"{about}: {command[0]} is relative, and an agent may write where it would be looked "
            f"for; give the whole path",
            field=dotted,
        )


def _check_url(url: str, about: str, dotted: str) -> None:
    wrong = wrong_with_url(url)
    if wrong:
        raise Misconfigured(f"{about}: url {wrong}", field=dotted)


def wrong_with_url(url: str) -> str:
    """Why nothing may be posted to this address, by its text alone; empty if it may (F63)."""
    if not url.isascii() or not url.isprintable() or "\\" in url or " " in url:
        return "holds a character that no address has; write it percent-encoded"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        return f"is no address: {error}"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "must begin with http:// or https:// and a host"
    if "@" in parts.netloc or "%" in parts.netloc:
        return "holds a user or an escape in its host; write the host alone"
    if port == 0:
        return "has port 0; give the port that the hook listens on"
    return ""


def _refuse_same_names(hooks: Iterable[Hook], where: str) -> None:
    seen: set[str] = set()
    for index, hook in enumerate(hooks):
        if hook.name in seen:
            raise Misconfigured(
                f"{where}: two hooks are called {hook.name}; the record names hooks, so give each "
                f"its own name",
                field=f"hooks[{index}].name",
            )
        seen.add(hook.name)
