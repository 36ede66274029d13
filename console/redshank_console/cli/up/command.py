"""The command that starts everything on one machine: `redshank up`."""

import asyncio
import os
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import httpx
import typer

from redshank_console.cli.contexts import NamedConsole, contexts_path, remember
from redshank_console.cli.mcp_flags import McpConfigFlag, McpProfileFlag, mcp_variables
from redshank_console.cli.output import say
from redshank_console.cli.processes import Config
from redshank_console.cli.tool_search_flags import (
    MostFlag,
    SearchFlag,
    ThresholdFlag,
    search_variables,
)
from redshank_console.cli.up import plan
from redshank_console.cli.up.data_folder import (
    VAULT_KEY,
    DataFolder,
    admin_token,
    hold,
    make_vault_key,
)
from redshank_console.cli.up.greeting import commands_line, greeting
from redshank_console.cli.up.ledger_key import with_ledger_key
from redshank_console.cli.up.ports import refuse_used
from redshank_console.cli.up.supervisor import Supervisor
from redshank_console.cli.up.valkey import embedded_valkey
from redshank_shared.client.console import ConsoleClient
from redshank_shared.domain.errors import Misconfigured, RedshankError
from redshank_shared.settings.environment import config_path, data_folder, process_environment
from redshank_shared.settings.load import load
from redshank_shared.settings.models import check_keys
from redshank_shared.settings.sections import Settings
from redshank_shared.settings.vault import read_vault_keys

CONTEXT = "local"
HEALTH_SECONDS = 5.0


def up(  # noqa: PLR0913 - a command's flags, each one argument
    nodes: Annotated[int, typer.Option(min=1, max=64, help="how many nodes")] = 1,
    data: Annotated[Path | None, typer.Option(help="the folder that keeps everything")] = None,
    database: Annotated[str, typer.Option(help="postgresql://… in place of SQLite")] = "",
    redis: Annotated[str, typer.Option(help="redis://… in place of the embedded one")] = "",
    config: Config = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="the console's, 0: as configured")
    ] = 0,
    node_port: Annotated[int, typer.Option(min=0, max=65535, help="the first node's")] = 0,
    tool_search: SearchFlag = "",
    tool_search_threshold: ThresholdFlag = None,
    tool_search_max_results: MostFlag = None,
    mcp_config: McpConfigFlag = None,
    mcp_profile: McpProfileFlag = None,
) -> None:
    """Start everything on this machine; Ctrl-C stops it.

    Valkey, the console, nodes, a gateway if one is set up.
    """
    given = _environment_with(config, database, redis, port, node_port)
    given |= search_variables(tool_search, tool_search_threshold, tool_search_max_results)
    environ: Mapping[str, str] = given | mcp_variables(mcp_config, mcp_profile)
    path = (data or data_folder(environ)).expanduser().resolve()
    key_file = path / VAULT_KEY
    environ = plan.with_vault_key(load(None, environ), environ, key_file)
    settings = load(None, environ)
    check_keys(settings)
    folder = hold(path)
    try:
        if settings.vault.key_file == str(key_file):
            make_vault_key(key_file)
        read_vault_keys(settings)
        for wanted in plan.ports(settings, nodes):
            refuse_used(wanted)
        _supervise(settings, folder, nodes, environ)
    finally:
        folder.release()


def _environment_with(
    config: Path | None, database: str, redis: str, port: int, node_port: int
) -> dict[str, str]:
    environ = process_environment()
    given = {
        "REDSHANK_DATABASE__URL": database,
        "REDSHANK_REDIS__URL": redis,
        "REDSHANK_CONSOLE__PORT": str(port or ""),
        "REDSHANK_NODE__PORT": str(node_port or ""),
    }
    environ.update({variable: value for variable, value in given.items() if value})
    file = config_path(config, environ)
    if file is not None:
        environ["REDSHANK_CONFIG"] = str(file.resolve())
    return environ


def _workspace(settings: Settings) -> Path:
    workspace = Path(settings.node.workspace or os.getcwd()).expanduser().resolve()
    if not workspace.is_dir():
        raise Misconfigured(
            f"node.workspace names {workspace}, which is no folder: make it, or name another",
            field="node.workspace",
        )
    return workspace


def _supervise(
    settings: Settings, folder: DataFolder, nodes: int, environ: Mapping[str, str]
) -> None:
    embedded = None
    if "redis.url" not in settings.given:
        embedded = embedded_valkey(folder.path, secrets.token_hex(24))
    sqlite = f"sqlite:///{folder.path / 'redshank.db'}"
    environ = with_ledger_key(settings, environ, folder.path)
    start = plan.Start(
        settings=settings,
        database_url=settings.database.url if "database.url" in settings.given else sqlite,
        redis_url=embedded.url if embedded is not None else settings.redis.url,
        admin_token_file=Path(settings.console.admin_token_file or folder.path / "admin.token"),
        workspace=_workspace(settings),
        data=folder.path,
        node_name=settings.node.name or socket.gethostname(),
        nodes=nodes,
        environ=plan.with_service_secret(settings, environ, secrets.token_urlsafe(32)),
    )
    token = admin_token(start.admin_token_file)
    valkey = embedded.spec(environ, plan.STOP_VALKEY) if embedded is not None else None

    async def greet() -> None:
        await asyncio.to_thread(_greet, start, folder, token)

    try:
        asyncio.run(Supervisor(folder.logs, say).run(plan.stages(start, valkey), greet))
    finally:
        if embedded is not None:
            embedded.remove()


def _greet(start: plan.Start, folder: DataFolder, token: str) -> None:
    url = plan.console_url(start.settings)
    link = ""
    try:
        remember(
            contexts_path(start.environ),
            CONTEXT,
            NamedConsole(url, token_file=str(start.admin_token_file)),
        )
        if start.settings.console.auth == "token":
            with ConsoleClient(url, token) as client:
                link = client.signin_link().url
    except (RedshankError, OSError) as error:
        say(str(error))
    models = start.settings.models
    commands = commands_line(_sandbox(start.settings))
    typer.echo(greeting(url, link, folder.path, start.workspace, models, start.nodes, commands))


def _sandbox(settings: Settings) -> Mapping[str, object]:
    """What the first node says of its sandbox."""
    host = plan.ANY_HOSTS.get(settings.node.host, settings.node.host)
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{settings.node.port}/health"
    try:
        health = httpx.get(url, timeout=HEALTH_SECONDS, trust_env=False).json()
    except (httpx.HTTPError, ValueError) as error:
        say(f"the first node does not tell of its sandbox: {error}")
        return {}
    found = health.get("sandbox", {})
    return found if isinstance(found, dict) else {}
