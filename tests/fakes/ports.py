"""Loopback ports for servers of tests, each given once."""

import contextlib
import itertools
import os
import socket

from redshank_shared.settings.environment import process_environment

# Below the range from which the kernel takes ports for outgoing connections: one of those could
# otherwise take a port before its server listens, or while it is down.
_FIRST, _LAST = 20_000, 32_000
_WORKERS = 8
_SLICE = (_LAST - _FIRST) // _WORKERS
_given = itertools.count(os.getpid())


def free_port() -> int:
    """A port that nobody listens on, no outgoing connection takes, no other test run in parallel
    is given.
    """
    worker = process_environment().get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
    begin = _FIRST + _SLICE * (int(worker) % _WORKERS)
    while True:
        port = begin + next(_given) % _SLICE
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
