"""Names what the routes stand on."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import msgspec

from redshank_gateway.channels.channel import ChannelReport
from redshank_gateway.delivery.counts import Counts
from redshank_gateway.delivery.deliveries import Deliveries
from redshank_gateway.delivery.recipients import Recipients


class HealthView(msgspec.Struct, frozen=True):
    """`status` is `degraded` while a channel that was set up, or the console, is not reached."""

    status: str
    version: str
    console: str
    channels: tuple[ChannelReport, ...]


@dataclass(frozen=True)
class Parts:
    """`secret` is the one that every service token is signed with."""

    secret: str
    recipients: Recipients
    deliveries: Deliveries
    counts: Counts
    health: Callable[[], HealthView]
    now: Callable[[], datetime]
    new_key: Callable[[], str]
