"""Reads what the operator set: the file over the defaults, the environment over the file."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from redshank_shared.domain.errors import Invalid, Misconfigured
from redshank_shared.domain.limits import checked
from redshank_shared.settings.environment import PREFIX, VAULT_KEY, config_path, data_folder
from redshank_shared.settings.gateway import find_keys
from redshank_shared.settings.hook_agents import check_models
from redshank_shared.settings.hook_tables import find_hooks
from redshank_shared.settings.mcp_catalog import named_profiles, of_profiles
from redshank_shared.settings.mcp_sources import find_servers
from redshank_shared.settings.models import find_models
from redshank_shared.settings.profiles import find_profiles
from redshank_shared.settings.reading import nearest, section_from, type_of, value_from
from redshank_shared.settings.secret import Secret
from redshank_shared.settings.sections import SECTIONS, Model, ProfileSource, Settings
from redshank_shared.settings.web import check_web, find_rerank_key

# What chooses profiles of the MCP catalog elsewhere (K-56).
_KHEISH_PROFILES = "KHEISH_MCP_PROFILES"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
# Tables of tables: [models.NAME], [profiles.NAME].
_NAMED: dict[str, type[msgspec.Struct]] = {"models": Model, "profiles": ProfileSource}


def load(path: Path | None, environ: Mapping[str, str]) -> Settings:
    """The settings of a process.

    Raises Misconfigured, which names the source, the key and the mend.
    """
    file = config_path(path, environ)
    document = _read(file) if file is not None else {}
    where = str(file) if file is not None else "the environment"
    hooks = find_hooks(document.pop("hooks", []), where)
    tables = {name: _table(document, name, where) for name in (*SECTIONS, *_NAMED, "mcp_servers")}
    for name in document:
        if name not in tables:
            raise Misconfigured(
                f"{where}: there is no table [{name}]{nearest(name, [*tables, 'hooks'])}",
                field=name,
            )
    if environ.get(_KHEISH_PROFILES):
        tables["mcp"]["profiles"] = environ[_KHEISH_PROFILES]
    _lay_environment_over(tables, environ)
    servers = tables["mcp"].pop("servers", {})
    sections = {
        name: section_from(kind, tables[name], f"{where}: [{name}]", name)
        for name, kind in SECTIONS.items()
    }
    given = frozenset(f"{table}.{key}" for table, keys in tables.items() for key in keys)
    models = find_models(tables["models"], where, environ)
    settings = Settings(**sections, models=models, given=given)  # type: ignore[arg-type]  # by table
    settings = msgspec.structs.replace(
        settings,
        gateway_keys=find_keys(settings.gateway, environ),
        mcp_servers=find_servers(
            servers,
            tables["mcp_servers"],
            settings.mcp.config,
            where,
            of_profiles(named_profiles(settings.mcp.profiles)),
        ),
        hooks=hooks,
        profiles=find_profiles(tables["profiles"], where),
        rerank_key=find_rerank_key(settings.rerank, environ),
        vault_key=Secret(environ.get(VAULT_KEY, "").strip()),
        source="" if file is None else str(file),
    )
    _check_together(settings, where)
    check_models(hooks, [model.name for model in models], where)
    check_web(settings.tools, settings.rerank, where)
    if not settings.database.url:
        url = f"sqlite:///{data_folder(environ) / 'redshank.db'}"
        database = msgspec.structs.replace(settings.database, url=url)
        settings = msgspec.structs.replace(settings, database=database)
    if not settings.default.model:
        default = msgspec.structs.replace(settings.default, model=models[0].name)
        settings = msgspec.structs.replace(settings, default=default)
    return settings


def secrets_of(settings: Settings) -> tuple[str, ...]:
    """Every value that no log may show: keys of models, of the gateway, passwords in addresses."""
    urls = (settings.database.url, settings.redis.url)
    passwords = [urlsplit(url).password or "" for url in urls]
    keys = [model.api_key.reveal() for model in settings.models]
    ours = settings.gateway_keys
    keys += [ours.service_secret.reveal(), ours.discord_token.reveal()]
    keys.append(settings.rerank_key.reveal())
    return tuple(value for value in (*passwords, *keys) if value)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise Misconfigured(
            f"{file} cannot be read ({error.strerror}): name another with --config"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{file} is not TOML: {error}") from error


def _table(document: Mapping[str, Any], name: str, where: str) -> dict[str, Any]:
    table = document.get(name, {})
    if not isinstance(table, dict):
        raise Misconfigured(
            f"{where}: {name} is a table: write [{name}] and its keys below", field=name
        )
    return dict(table)


def _lay_environment_over(tables: dict[str, dict[str, Any]], environ: Mapping[str, str]) -> None:
    for variable, text in sorted(environ.items()):
        name, separator, key = variable.removeprefix(PREFIX).lower().partition("__")
        if not variable.startswith(PREFIX) or not separator:
            continue
        if name == "slot" or variable == VAULT_KEY:
            continue
        if name not in tables:
            known = [f"{PREFIX}{table.upper()}__" for table in tables]
            raise Misconfigured(
                f"{variable}: there is no table {name}{nearest(variable, known)}", field=variable
            )
        table, kind = tables[name], SECTIONS.get(name) or _NAMED.get(name, Model)
        if name in _NAMED:
            table, key = _table_of_its_name(table, name, key, variable)
        table[key] = value_from(type_of(kind, key, variable, variable), text, variable)


def _table_of_its_name(
    tables: dict[str, Any], name: str, key: str, variable: str
) -> tuple[dict[str, Any], str]:
    own, separator, key = key.partition("__")
    if not separator:
        raise Misconfigured(f"{variable}: write {PREFIX}{name.upper()}__NAME__KEY", field=variable)
    table = tables.setdefault(own, {})
    if not isinstance(table, dict):
        raise Misconfigured(f"{name}.{own} is a table: write [{name}.{own}]", field=name)
    return table, key


def _check_together(settings: Settings, where: str) -> None:
    console, names = settings.console, [model.name for model in settings.models]
    if console.auth == "off" and console.host not in LOOPBACK:
        raise Misconfigured(
            f'{where}: console.auth is "off" while console.host is {console.host}: '
            f"anyone who reaches it could run commands; "
            f'set console.auth = "token", or console.host = "127.0.0.1"',
            field="console.auth",
        )
    if settings.default.model and settings.default.model not in names:
        near = nearest(settings.default.model, names)
        raise Misconfigured(
            f"{where}: default.model is {settings.default.model!r}, no model of that name{near}",
            field="default.model",
        )
    try:
        checked(settings.limits)
    except Invalid as wrong:
        raise Misconfigured(f"{where}: {wrong.detail}", field=wrong.field) from wrong
