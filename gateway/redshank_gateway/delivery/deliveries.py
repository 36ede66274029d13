"""Hands a notification to its channels."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

from redshank_gateway.channels.channel import Channel
from redshank_gateway.delivery.counts import Counts
from redshank_gateway.delivery.recipients import Target
from redshank_gateway.delivery.repeats import Kept, Repeats
from redshank_shared.domain.errors import RedshankError
from redshank_shared.wire.notify import DeliveryStatus, TargetResult

logger = logging.getLogger(__name__)

Writer = Callable[[str], Sequence[str]]


class Deliveries:
    """A target has `seconds` to take what it gets; one that does not holds up no other."""

    def __init__(self, channels: Mapping[str, Channel], seconds: float, counts: Counts) -> None:
        self._channels = channels
        self._seconds = seconds
        self._counts = counts
        self._repeats = Repeats()

    async def deliver(
        self, key: str, digest: str, targets: Sequence[Target], write: Writer
    ) -> tuple[TargetResult, ...]:
        """What became of each target, in their order (T-43).

        Under a key used before, targets that were reached are not written to again; Conflict
        where the digest is another. `write` gives the texts for a type of channel.
        """
        kept = self._repeats.under(key, digest)
        async with kept.turn, asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._deliver_one(kept, key, target, write)) for target in targets
            ]
        results = (task.result() for task in tasks)
        return tuple(
            TargetResult(str(target), status)
            for target, status in zip(targets, results, strict=True)
        )

    async def _deliver_one(
        self, kept: Kept, key: str, target: Target, write: Writer
    ) -> DeliveryStatus:
        if str(target) in kept.reached:
            return "sent"
        status = await self._send(key, target, write)
        if status == "sent":
            kept.reached.add(str(target))
        self._counts.delivered(target.channel_type, status)
        return status

    async def _send(self, key: str, target: Target, write: Writer) -> DeliveryStatus:
        channel = self._channels.get(target.channel_type)
        if channel is None:
            return "no_adapter"
        try:
            async with asyncio.timeout(self._seconds):
                await channel.send(target.channel_id, write(target.channel_type), key)
        except TimeoutError:
            logger.warning("%s took nothing within %g s", target, self._seconds)
            return "timeout"
        except RedshankError as error:
            logger.warning("%s was not reached: %s", target, error.detail)
            return "failed"
        except Exception:  # noqa: BLE001 - a channel's fault must not cancel the other targets
            logger.exception("the channel of %s fell over", target)
            return "failed"
        return "sent"
