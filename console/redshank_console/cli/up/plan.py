"""Decides which children a start has, with which environment, in which order."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from redshank_console.cli.processes import CONSOLE, GATEWAY, MIGRATIONS, NODE, module_command
from redshank_console.cli.up.child import ChildSpec
from redshank_console.cli.up.ports import WantedPort
from redshank_console.cli.up.readiness import answers_health
from redshank_shared.settings.environment import VAULT_KEY_FILE, slot_variable
from redshank_shared.settings.sections import Settings
from redshank_shared.settings.vault import has_vault_key

STOP_NODES, STOP_CONSOLE, STOP_VALKEY = 0, 1, 2
ANY_HOSTS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - to be replaced


class Start(msgspec.Struct, frozen=True):
    """What one start needs to know: settings, addresses and folders found, the nodes to run."""

    settings: Settings
    database_url: str
    redis_url: str
    admin_token_file: Path
    workspace: Path
    data: Path
    node_name: str
    nodes: int
    environ: Mapping[str, str]


def ports(settings: Settings, nodes: int) -> list[WantedPort]:
    """Every port that the children will listen on."""
    console, node = settings.console, settings.node
    wanted = [WantedPort(console.host, console.port, "console", "--port", "console.port")]
    for number in range(nodes):
        port = node.port + number
        wanted.append(WantedPort(node.host, port, f"node {number + 1}", "--node-port", "node.port"))
    if wants_gateway(settings):
        gateway = settings.gateway
        # It has no flag of its own.
        wanted.append(
            WantedPort(
                gateway.host, gateway.port, "gateway", "REDSHANK_GATEWAY__PORT", "gateway.port"
            )
        )
    return wanted


def wants_gateway(settings: Settings) -> bool:
    """Whether anything was set for a gateway."""
    return bool(settings.gateway_keys.discord_token) or any(
        key.startswith("gateway.") for key in settings.given
    )


def with_service_secret(
    settings: Settings, environ: Mapping[str, str], fresh: str
) -> Mapping[str, str]:
    """The environment in which all children know each other by one secret; `fresh`, a new one,
    where the operator names none.
    """
    gateway = settings.gateway
    if settings.gateway_keys.service_secret or gateway.service_secret_env:
        return environ
    return {**environ, slot_variable(gateway.service_secret_slot): fresh}


def with_vault_key(
    settings: Settings, environ: Mapping[str, str], key_file: Path
) -> Mapping[str, str]:
    """The environment in which all children open the vault with one key; `key_file` where the
    operator names none.
    """
    if has_vault_key(settings):
        return environ
    return {**environ, VAULT_KEY_FILE: str(key_file)}


def console_url(settings: Settings) -> str:
    """Where this machine reaches the console."""
    host = ANY_HOSTS.get(settings.console.host, settings.console.host)
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{settings.console.port}"


def stages(start: Start, valkey: ChildSpec | None) -> list[list[ChildSpec]]:
    """The children, stage by stage: Valkey if it is ours, migrations, then all the others."""
    settings = start.settings
    shared = dict(start.environ)
    shared["REDSHANK_DATABASE__URL"] = start.database_url
    shared["REDSHANK_REDIS__URL"] = start.redis_url
    shared["REDSHANK_CONSOLE__PORT"] = str(settings.console.port)
    shared["REDSHANK_CONSOLE__ADMIN_TOKEN_FILE"] = str(start.admin_token_file)
    if "log.format" not in settings.given:
        shared["REDSHANK_LOG__FORMAT"] = "json"
    console = ChildSpec(
        name="console",
        command=tuple(module_command(CONSOLE)),
        environment=shared,
        ready=answers_health(
            ANY_HOSTS.get(settings.console.host, settings.console.host), settings.console.port
        ),
        stop_rank=STOP_CONSOLE,
    )
    migrations = ChildSpec(
        name="migrate", command=tuple(module_command(MIGRATIONS)), environment=shared
    )
    nodes = [_node(start, shared, number) for number in range(start.nodes)]
    gateway = [_gateway(settings, shared)] if wants_gateway(settings) else []
    first = [[valkey]] if valkey is not None else []
    return [*first, [migrations], [console, *nodes, *gateway]]


def _node(start: Start, shared: Mapping[str, str], number: int) -> ChildSpec:
    node = start.settings.node
    port = node.port + number
    environment = {
        **shared,
        "REDSHANK_NODE__PORT": str(port),
        "REDSHANK_NODE__NAME": f"{start.node_name}-{number + 1}",
        "REDSHANK_NODE__WORKSPACE": str(start.workspace),
        "REDSHANK_SANDBOX__HIDDEN": hidden_paths(start),
    }
    return ChildSpec(
        name=f"node-{number + 1}",
        command=tuple(module_command(NODE)),
        environment=environment,
        ready=answers_health(ANY_HOSTS.get(node.host, node.host), port),
        stop_rank=STOP_NODES,
        # A node takes its grace to hand over what it runs.
        stop_seconds=node.grace_seconds + 2,
    )


def hidden_paths(start: Start) -> str:
    """What commands on this start's nodes may not see: the data folder beside what is set."""
    return ":".join(filter(None, (start.settings.sandbox.hidden, str(start.data))))


def _gateway(settings: Settings, shared: Mapping[str, str]) -> ChildSpec:
    gateway = settings.gateway
    environment = dict(shared)
    if "gateway.console_url" not in settings.given:
        environment["REDSHANK_GATEWAY__CONSOLE_URL"] = console_url(settings)
    return ChildSpec(
        name="gateway",
        command=tuple(module_command(GATEWAY)),
        environment=environment,
        ready=answers_health(ANY_HOSTS.get(gateway.host, gateway.host), gateway.port),
        # What a node tells while it hands over still has a gateway.
        stop_rank=STOP_CONSOLE,
    )
