"""Turns one question over a wire into deltas with the answer behind them."""

from collections.abc import AsyncIterator, Callable, Iterable
from typing import Protocol, TypeVar

from redshank_node.providers.merging import merged
from redshank_node.providers.provider import Answer, Delta
from redshank_node.providers.sse import Event
from redshank_node.providers.transport import Link


class Reader(Protocol):
    """What puts one wire's events together."""

    def feed(self, event: Event) -> Iterable[Delta]:
        """What the event adds to see; ModelFailed where it says that the model failed."""

    def answer(self) -> Answer:
        """The whole answer, once no event comes any more; ModelFailed where it is none."""


Read = TypeVar("Read", bound=Reader)


async def streamed(
    link: Link, body: bytes, reader: Read, patience: Callable[[Read], float | None]
) -> AsyncIterator[Delta | Answer]:
    """Deltas, then the Answer; raises ModelFailed (F46). `patience`: how many seconds the next read
    may take, None for as long as the model's own timeout.
    """
    async with link.ask(body) as reading:
        while (events := await reading.next(patience(reader))) is not None:
            shown = (delta for event in events for delta in reader.feed(event))
            for delta in merged(shown):
                yield delta
    yield reader.answer()
