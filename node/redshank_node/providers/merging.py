"""Joins neighbouring deltas of one channel, so that one read is one step for every watcher."""

import itertools
import operator
from collections.abc import Iterable, Iterator

from redshank_node.providers.provider import Delta


def merged(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """The same text in as few deltas as its changes of channel allow."""
    for channel, run in itertools.groupby(deltas, key=operator.attrgetter("channel")):
        yield Delta(channel, "".join(delta.text for delta in run))
