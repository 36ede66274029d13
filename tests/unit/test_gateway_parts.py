"""The gateway's memory: pauses that were asked for, notifications under their keys."""

import asyncio
from collections.abc import Sequence

import pytest

from redshank_gateway.channels.channel import ChannelReport
from redshank_gateway.channels.pauses import EVERYWHERE, Pauses
from redshank_gateway.delivery.counts import Counts
from redshank_gateway.delivery.deliveries import Deliveries
from redshank_gateway.delivery.recipients import Recipients, Target
from redshank_gateway.delivery.repeats import KEPT, Repeats
from redshank_shared.domain.errors import Conflict, NotFound, Unavailable


@pytest.mark.fault("F61")
def test_a_pause_holds_for_its_place_until_its_end() -> None:
    pauses = Pauses()
    pauses.ask("a", 2.0, now=10.0)
    assert (pauses.left("a", 11.0), pauses.left("b", 11.0), pauses.left("a", 12.0)) == (1.0, 0, 0)


@pytest.mark.fault("F61")
def test_a_pause_everywhere_holds_for_every_place_and_a_shorter_one_shortens_none() -> None:
    pauses = Pauses()
    pauses.ask(EVERYWHERE, 5.0, now=10.0)
    pauses.ask(EVERYWHERE, 1.0, now=10.0)
    pauses.ask("a", 1.0, now=10.0)
    assert (pauses.left("a", 10.0), pauses.left("b", 10.0)) == (5.0, 5.0)


@pytest.mark.req("T-43")
def test_a_user_has_every_linked_place_once() -> None:
    one, other = Target("discord", "1"), Target("terminal", "1")
    assert Recipients({"ines": (one, other, one)}).of("ines") == (one, other)


def test_an_unknown_user_is_named_with_the_mend() -> None:
    with pytest.raises(NotFound, match=r"user tomasz.*\[gateway.users\]") as caught:
        Recipients({"ines": (Target("discord", "1"),), "empty": ()}).of("tomasz")
    assert (caught.value.field, caught.value.code) == ("username", "unknown_user")


def test_only_the_last_keys_are_kept() -> None:
    repeats = Repeats()
    first = repeats.under("0", "a")
    for number in range(1, KEPT):
        repeats.under(str(number), "a")
    assert repeats.under("0", "a") is first
    repeats.under("one more", "a")
    assert repeats.under("1", "another body").digest == "another body"


class Recording:
    """A channel that keeps what it is sent, and fails where it is told to."""

    name = "recording"

    def __init__(self) -> None:
        self.sent: list[tuple[str, tuple[str, ...]]] = []
        self.failing: set[str] = set()
        self.broken: set[str] = set()

    async def run(self) -> None:
        return None

    async def send(self, channel_id: str, texts: Sequence[str], key: str) -> None:
        await asyncio.sleep(0)
        if channel_id in self.broken:
            raise KeyError(channel_id)
        if channel_id in self.failing:
            raise Unavailable("it is away")
        self.sent.append((channel_id, tuple(texts)))

    def report(self) -> ChannelReport:
        return ChannelReport(self.name, "ready")


ONE, OTHER = Target("recording", "1"), Target("recording", "2")


def deliveries(channel: Recording) -> Deliveries:
    return Deliveries({channel.name: channel}, 5.0, Counts([channel.name]))


async def statuses(to: Deliveries, key: str, *targets: Target, digest: str = "d") -> list[str]:
    results = await to.deliver(key, digest, targets, lambda _: ("text",))
    return [result.status for result in results]


async def test_a_target_that_fails_holds_up_no_other_and_is_tried_again_alone() -> None:
    channel = Recording()
    to = deliveries(channel)
    channel.failing = {"1"}
    assert await statuses(to, "k", ONE, OTHER) == ["failed", "sent"]
    channel.failing = set()
    assert await statuses(to, "k", ONE, OTHER) == ["sent", "sent"]
    assert channel.sent == [("2", ("text",)), ("1", ("text",))]


async def test_a_channel_that_falls_over_is_a_failed_target() -> None:
    channel = Recording()
    channel.broken = {"1"}
    assert await statuses(deliveries(channel), "k", ONE, OTHER) == ["failed", "sent"]


async def test_the_same_key_at_the_same_time_is_delivered_once() -> None:
    channel = Recording()
    to = deliveries(channel)
    answers = await asyncio.gather(*(statuses(to, "k", ONE) for _ in range(5)))
    assert answers == [["sent"]] * 5
    assert len(channel.sent) == 1


async def test_a_key_with_another_body_is_a_conflict() -> None:
    to = deliveries(Recording())
    await statuses(to, "k", ONE)
    with pytest.raises(Conflict):
        await statuses(to, "k", ONE, digest="another")


@pytest.mark.req("T-43")
async def test_a_channel_that_is_not_there_has_no_adapter() -> None:
    assert await statuses(deliveries(Recording()), "k", Target("slack", "1")) == ["no_adapter"]


@pytest.mark.fault("F-32")
async def test_a_channel_without_an_adapter_is_counted_under_one_label() -> None:
    channel, counts = Recording(), Counts(["recording"])
    to = Deliveries({channel.name: channel}, 5.0, counts)
    for name in ("slack", "irc", "recording"):
        await statuses(to, name, Target(name, "1"))
    lines = [line for line in counts.text().decode().splitlines() if "notifications_total{" in line]
    assert sorted(lines) == [
        'redshank_notifications_total{channel="other",status="no_adapter"} 2.0',
        'redshank_notifications_total{channel="recording",status="sent"} 1.0',
    ]
