"""Puts a gateway together: the only place that names its concrete parts."""

import asyncio
import contextlib
import logging
import secrets
import signal
import socket
from collections.abc import Generator
from typing import TextIO

import uvicorn

from redshank_gateway.api.app import gateway_api
from redshank_gateway.api.parts import HealthView, Parts
from redshank_gateway.bridge.registration import Registration
from redshank_gateway.channels.channel import Channel, ChannelReport
from redshank_gateway.channels.terminal import TerminalChannel
from redshank_gateway.delivery.counts import Counts
from redshank_gateway.delivery.deliveries import Deliveries
from redshank_gateway.delivery.recipients import Recipients, Target
from redshank_shared import clock
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.environment import slot_variable
from redshank_shared.settings.sections import ChannelLink, Gateway, Settings
from redshank_shared.wire.service_token import CONSOLE_AUDIENCE, check_secret, sign
from redshank_shared.wire.version import VERSION

try:
    from redshank_gateway.channels.discord import DiscordChannel
except ModuleNotFoundError as missing:
    if missing.name != "discord":
        raise
    DiscordChannel = None  # type: ignore[assignment,misc]  # the extra [discord] is not installed

logger = logging.getLogger(__name__)

DISCORD = "discord"
_CHANNELS = ("terminal", DISCORD)
_GRACE_SECONDS = 3


class GatewayProcess:
    """One gateway."""

    def __init__(self, settings: Settings, output: TextIO) -> None:
        """Misconfigured where there is no good service secret (F42)."""
        self._settings = settings.gateway
        self._secret = settings.gateway_keys.service_secret.reveal()
        check_secret(self._secret)
        self._service_id = f"{socket.gethostname()}.{secrets.token_hex(6)}"
        self._channels: dict[str, Channel] = {}
        self._absent: tuple[ChannelReport, ...] = ()
        self._adopt(TerminalChannel(output))
        self._adopt_discord(settings.gateway_keys.discord_token.reveal())
        self._registration = Registration(
            self._settings.console_url, self._sign_for_console, self._describe
        )

    async def run(self) -> None:
        """Until SIGTERM or SIGINT; what is being delivered then has 3 s."""
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        with listening_socket(self._settings) as listening:
            await self.serve(listening, stop)

    async def serve(self, listening: socket.socket, stop: asyncio.Event) -> None:
        """Answer requests until `stop`."""
        server = _QuietServer(
            uvicorn.Config(
                gateway_api(self._parts()),
                log_config=None,
                log_level=logging.WARNING,
                access_log=False,
                lifespan="off",
                ws="none",
                server_header=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(server.serve(sockets=[listening]))
            loops = [group.create_task(channel.run()) for channel in self._channels.values()]
            loops.append(group.create_task(self._registration.run()))
            logger.info("gateway answers at %s: %s", self._address(), self._standing())
            await stop.wait()
            server.should_exit = True
            await asyncio.wait((serving,))
            for each in loops:
                each.cancel()

    def _adopt(self, channel: Channel) -> None:
        self._channels[channel.name] = channel

    def _adopt_discord(self, token: str) -> None:
        discord = self._settings.discord
        if not token:
            named = discord.token_env or slot_variable(discord.token_slot or "gateway.discord")
            report = ChannelReport(DISCORD, "no_token", f"to use Discord, set the variable {named}")
        elif DiscordChannel is None:
            report = ChannelReport(DISCORD, "not_installed", "install redshank[discord]")
        else:
            return self._adopt(
                DiscordChannel(token, discord.api_url, discord.gateway_url, clock.monotonic)
            )
        self._absent = (report,)
        return None

    def _parts(self) -> Parts:
        counts = Counts(_CHANNELS)
        return Parts(
            secret=self._secret,
            recipients=Recipients(
                {name: _targets(links) for name, links in self._settings.users.items()}
            ),
            deliveries=Deliveries(self._channels, self._settings.delivery_seconds, counts),
            counts=counts,
            health=self._health,
            now=clock.now_utc,
            new_key=lambda: secrets.token_hex(16),
        )

    def _reports(self) -> tuple[ChannelReport, ...]:
        return (*(channel.report() for channel in self._channels.values()), *self._absent)

    def _health(self) -> HealthView:
        console = self._registration.trouble
        well = not console and all(
            channel.report().state == "ready" for channel in self._channels.values()
        )
        return HealthView("ok" if well else "degraded", VERSION, console or "ok", self._reports())

    def _sign_for_console(self) -> str:
        return sign(self._secret, self._service_id, CONSOLE_AUDIENCE, clock.now_utc())

    def _describe(self) -> dict[str, object]:
        channels = [{"name": each.name, "state": each.state} for each in self._reports()]
        return {
            "service_id": self._service_id,
            "kind": "gateway",
            "address": self._address(),
            "version": VERSION,
            "report": {"channels": channels},
        }

    def _address(self) -> str:
        gateway = self._settings
        if gateway.public_url:
            return gateway.public_url.rstrip("/")
        host = f"[{gateway.host}]" if ":" in gateway.host else gateway.host
        return f"http://{host}:{gateway.port}"

    def _standing(self) -> str:
        return ", ".join(
            f"{each.name} {each.state}{f' ({each.detail})' if each.detail else ''}"
            for each in self._reports()
        )


class _QuietServer(uvicorn.Server):
    """Signals are the gateway's own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def listening_socket(gateway: Gateway) -> socket.socket:
    """The socket to serve on; Misconfigured where it cannot be had."""
    family = socket.AF_INET6 if ":" in gateway.host else socket.AF_INET
    try:
        listening = socket.create_server((gateway.host, gateway.port), family=family)
    except OSError as error:
        raise Misconfigured(
            f"the gateway cannot listen on {gateway.host} port {gateway.port} ({error.strerror}): "
            f"stop what uses it, or set gateway.port (REDSHANK_GATEWAY__PORT) to another",
            code="port_in_use",
            field="gateway.port",
        ) from error
    # asyncio asks for this only where a socket names its protocol, which create_server's do not.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _targets(links: ChannelLink | tuple[ChannelLink, ...]) -> tuple[Target, ...]:
    several = links if isinstance(links, tuple) else (links,)
    return tuple(Target(link.channel_type, link.channel_id) for link in several)
