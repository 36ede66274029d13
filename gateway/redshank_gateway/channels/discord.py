"""Speaks to Discord: the only file that knows its library."""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from redshank_gateway.channels.channel import ChannelReport
from redshank_gateway.channels.pauses import EVERYWHERE, Pauses
from redshank_shared.domain.errors import Invalid, NotFound, Unavailable

logger = logging.getLogger(__name__)

_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 60.0
# What Discord takes at most.
_NONCE_CHARACTERS = 25
_AUTHENTICATION_FAILED = 4004
_REFUSED = (
    "Discord refuses the token: give a valid one by gateway.discord.token_env or "
    "gateway.discord.token_slot, then start the gateway again"
)


class DiscordChannel:
    """One bot. A place is a channel's id, or a user's, who is written to directly.

    The library keeps its two addresses for the whole process: one of these a process.
    """

    name = "discord"

    def __init__(
        self, token: str, api_url: str, gateway_url: str, monotonic: Callable[[], float]
    ) -> None:
        # We never speak, so the library need not warn that it cannot.
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        Route.BASE = api_url.rstrip("/")
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(gateway_url)
        self._token = token
        self._monotonic = monotonic
        self._pauses = Pauses()
        self._client: _Client | None = None
        self._signed_in = asyncio.Event()
        self._refused = False
        self._trouble = ""
        # A user's id once was found to be one.
        self._users: set[int] = set()

    async def run(self) -> None:
        """Stay signed in until cancelled; gives up only where the token is refused."""
        pause = _FIRST_PAUSE_SECONDS
        while not self._refused:
            began = self._monotonic()
            await self._live_once()
            if self._monotonic() - began > _LONGEST_PAUSE_SECONDS:
                pause = _FIRST_PAUSE_SECONDS
            if not self._refused:
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    async def send(self, channel_id: str, texts: Sequence[str], key: str) -> None:
        """Post the texts in order with mentions off (F62); waits for sign-in, honours Retry-After
        (F61), so give it a time limit.

        Each text has a nonce of the key that Discord enforces: repeated, it shows once.
        """
        if not channel_id.isascii() or not channel_id.isdigit():
            raise Invalid(
                f"{channel_id!r} is no id of Discord: it takes digits", field="channel_id"
            )
        if not self._refused:
            await self._signed_in.wait()
        if self._refused or self._client is None:
            raise Unavailable(_REFUSED)
        nonces = [_nonce(key, channel_id, number) for number in range(len(texts))]
        try:
            await self._post(self._client, int(channel_id), list(zip(texts, nonces, strict=True)))
        except discord.NotFound as error:
            raise NotFound(
                f"Discord knows neither a channel nor a user {channel_id} that the bot can see",
                field="channel_id",
            ) from error
        except (discord.DiscordException, aiohttp.ClientError, OSError) as error:
            raise Unavailable(f"Discord did not take it: {error}") from error

    def report(self) -> ChannelReport:
        """`refused`, `connecting`, `reconnecting` or `ready`; sending needs only the sign-in."""
        if self._refused:
            return ChannelReport(self.name, "refused", _REFUSED)
        if self._client is None or not self._signed_in.is_set():
            return ChannelReport(self.name, "connecting", self._trouble)
        if not self._client.connected:
            return ChannelReport(self.name, "reconnecting", self._trouble)
        return ChannelReport(self.name, "ready")

    async def _live_once(self) -> None:
        trace = aiohttp.TraceConfig()
        trace.on_request_end.append(self._note_pause)
        client = _Client(trace)
        self._client = client
        try:
            await client.login(self._token)
            self._signed_in.set()
            await client.connect()
            self._trouble = "Discord ended the connection"
        except discord.LoginFailure:
            self._refuse()
        except discord.ConnectionClosed as error:
            self._trouble = f"Discord ended the connection: {error}"
            if error.code == _AUTHENTICATION_FAILED:
                self._refuse()
        except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
            self._trouble = f"Discord does not answer: {error}"
        except Exception:  # noqa: BLE001 - what the library falls over must not end the gateway
            self._trouble = "the connection to Discord failed; the gateway's log says why"
            logger.exception("the library for Discord fell over")
        finally:
            if not self._refused:
                self._signed_in.clear()
            await client.close()
        logger.warning("%s", self._trouble or _REFUSED)

    def _refuse(self) -> None:
        self._refused = True
        # Those who wait for the sign-in learn why it will never be.
        self._signed_in.set()

    async def _post(self, client: "_Client", place: int, parts: Sequence[tuple[str, str]]) -> None:
        if place not in self._users:
            try:
                return await self._post_all(client.get_partial_messageable(place), place, parts)
            except discord.NotFound:
                logger.debug("%s is no channel, so it is taken for a user", place)
        direct = await client.create_dm(discord.Object(place))
        self._users.add(place)
        return await self._post_all(direct, direct.id, parts)

    async def _post_all(
        self, to: discord.abc.Messageable, place: int, parts: Sequence[tuple[str, str]]
    ) -> None:
        for text, nonce in parts:
            left = self._pauses.left(_path_of(place), self._monotonic())
            if left:
                await asyncio.sleep(left)
            await to.send(
                text,
                nonce=nonce,
                allowed_mentions=discord.AllowedMentions.none(),
                suppress_embeds=True,
            )

    async def _note_pause(
        self, _: aiohttp.ClientSession, __: SimpleNamespace, seen: aiohttp.TraceRequestEndParams
    ) -> None:
        """The library waits by itself, but forgets when the delivery's time is over."""
        answer = seen.response
        if answer.status != 429:
            return
        try:
            seconds = float(answer.headers.get("Retry-After", ""))
        except ValueError:
            return
        everywhere = answer.headers.get("X-RateLimit-Scope") == "global"
        self._pauses.ask(EVERYWHERE if everywhere else seen.url.path, seconds, self._monotonic())


class _Client(discord.Client):
    def __init__(self, trace: aiohttp.TraceConfig) -> None:
        super().__init__(
            intents=discord.Intents(guilds=True),
            allowed_mentions=discord.AllowedMentions.none(),
            http_trace=trace,
        )
        self.connected = False

    async def on_connect(self) -> None:
        self.connected = True

    async def on_resumed(self) -> None:
        self.connected = True

    async def on_disconnect(self) -> None:
        self.connected = False


def _nonce(key: str, channel_id: str, number: int) -> str:
    digest = hashlib.sha256(f"{key}\n{channel_id}\n{number}".encode()).hexdigest()
    return digest[:_NONCE_CHARACTERS]


def _path_of(place: int) -> str:
    return f"{yarl.URL(Route.BASE).path}/channels/{place}/messages"
