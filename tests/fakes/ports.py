"""Loopback ports for servers of tests, each given once."""

import contextlib
import functools
import itertools
import socket

# Below the range from which the kernel takes ports for outgoing connections: one of those could
# otherwise take a port before its server listens, or while it is down.
_FIRST, _LAST = 20_000, 32_000
_SLICE = 400
_SLICES = (_LAST - _FIRST) // _SLICE
_given = itertools.count()


def free_port() -> int:
    """A port that nobody listens on, no outgoing connection takes, no other process that runs
    tests on this machine is given.
    """
    begin = _FIRST + _SLICE * _own_slice()
    while True:
        port = begin + next(_given) % _SLICE
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@functools.cache
def _own_slice() -> int:
    """The first that no other process holds; this one holds it until it ends, however it ends."""
    for number in range(_SLICES):
        held = socket.socket(socket.AF_UNIX)
        try:
            held.bind(f"\0redshank-test-ports-{number}")
        except OSError:
            held.close()
        else:
            held.detach()
            return number
    raise RuntimeError(f"{_SLICES} processes run tests on this machine already: wait for one")
