"""Takes notifications from the outbox to a gateway: delivered once, or shown as failed."""

import logging
from collections.abc import Callable
from datetime import datetime

import aiohttp
import msgspec

from redshank_shared.clock import rfc3339
from redshank_shared.domain.commands import SettleNotification
from redshank_shared.domain.due_events import NotificationRequested
from redshank_shared.domain.errors import Conflict, Misconfigured, NotFound
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.metrics import Metrics
from redshank_shared.session_commands import SessionCommands
from redshank_shared.stores.database import Database
from redshank_shared.stores.outbox import Delivery, Outbox
from redshank_shared.stores.services import Services
from redshank_shared.wire.notify import NotifyAnswer, NotifyRequest, TargetResult

logger = logging.getLogger(__name__)

# Retried twice more (T-43).
RETRY_SECONDS = (1.0, 3.0)
GATEWAY_SEEN_SECONDS = 15.0
_ANSWER_SECONDS = 30.0
_AGAIN = {"timeout", "failed"}

_decode_request = msgspec.json.Decoder(NotificationRequested).decode
_decode_answer = msgspec.json.Decoder(NotifyAnswer).decode


class Attempt(msgspec.Struct, frozen=True):
    """What one request to a gateway gave. `again`: another may do better."""

    results: tuple[TargetResult, ...] = ()
    detail: str = ""
    again: bool = False

    @property
    def sent(self) -> bool:
        """Whether every target was reached."""
        return bool(self.results) and all(result.status == "sent" for result in self.results)


class Notifications:
    """The handler of kept jobs that deliver. A delivery handed over twice is told once: the gateway
    knows it by its key. `token` signs for the gateway, or raises Misconfigured (F42).
    """

    def __init__(
        self,
        database: Database,
        outbox: Outbox,
        services: Services,
        commands: SessionCommands,
        metrics: Metrics,
        token: Callable[[], str],
        now: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._outbox = outbox
        self._services = services
        self._commands = commands
        self._metrics = metrics
        self._token = token
        self._now = now

    async def deliver(self, delivery_id: str) -> None:
        """Try once; settle it, or leave it due again in a moment (T-43)."""
        delivery = await self._database.run(self._outbox.get, delivery_id)
        if delivery is None:
            return
        request = _decode_request(delivery.payload)
        attempt = await self._attempt(delivery, request)
        if attempt.again and delivery.attempts < len(RETRY_SECONDS):
            pause = RETRY_SECONDS[delivery.attempts]
            logger.warning("notification %s is tried again: %s", delivery_id, attempt.detail)
            await self._database.run(self._outbox.again, delivery_id, pause, failed=True)
            return
        await self._settle(delivery, attempt)

    async def give_up(self, delivery_id: str) -> None:
        """Show a delivery that nobody tries any more as failed."""
        delivery = await self._database.run(self._outbox.get, delivery_id)
        if delivery is not None:
            why = "given up: it took its node along three times; look at the nodes' logs"
            await self._settle(delivery, Attempt(detail=why))

    async def _attempt(self, delivery: Delivery, asked: NotificationRequested) -> Attempt:
        gateways = await self._database.run(self._services.live, "gateway", GATEWAY_SEEN_SECONDS)
        if not gateways:
            return Attempt(
                detail="no gateway is registered: start one with `redshank gateway`", again=True
            )
        try:
            token = self._token()
        except Misconfigured as error:
            return Attempt(detail=error.detail)
        body = NotifyRequest(
            message=asked.message,
            username=asked.username or None,
            channel_type=asked.channel_type or None,
            channel_id=asked.channel_id or None,
            title=asked.title or None,
            workstream=delivery.workstream_id,
        )
        headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Idempotency-Key": delivery.delivery_id,
        }
        url = f"{gateways[0].address.rstrip('/')}/v1/api/notify"
        timeout = aiohttp.ClientTimeout(total=_ANSWER_SECONDS)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(url, data=msgspec.json.encode(body), headers=headers) as answer,
            ):
                return _judged(answer.status, await answer.read())
        except (aiohttp.ClientError, TimeoutError) as error:
            why = str(error) or type(error).__name__
            return Attempt(detail=f"the gateway at {url} does not answer: {why}", again=True)

    async def _settle(self, delivery: Delivery, attempt: Attempt) -> None:
        for result in attempt.results:
            channel = result.target.partition(":")[0]
            self._metrics.notification_settled(channel, result.status)
        if not attempt.results:
            self._metrics.notification_settled("", "failed")
        settled = SettleNotification(
            delivery.delivery_id,
            attempt.sent,
            tuple(f"{result.target} {result.status}" for result in attempt.results),
            attempt.detail,
        )
        workstream = WorkstreamId(delivery.workstream_id)
        try:
            await self._commands.execute(workstream, settled, rfc3339(self._now()))
        except (Conflict, NotFound) as refused:
            logger.error("notification %s: %s", delivery.delivery_id, refused.detail)


def _judged(status: int, body: bytes) -> Attempt:
    if status == 200:
        results = _decode_answer(body).results
        failed = [result for result in results if result.status != "sent"]
        detail = "; ".join(f"{result.target}: {result.status}" for result in failed)
        return Attempt(results, detail, any(result.status in _AGAIN for result in failed))
    said = body[:500].decode(errors="replace")
    return Attempt(detail=f"the gateway answered {status}: {said}", again=status >= 500)
