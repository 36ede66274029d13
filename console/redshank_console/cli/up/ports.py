"""Refuses a port that something else listens on, before anything is started."""

import errno
import socket

import msgspec

from redshank_shared.domain.errors import Conflict, Misconfigured


class WantedPort(msgspec.Struct, frozen=True):
    """A port, whom it is for, the flag and the key that change it."""

    host: str
    port: int
    whose: str
    flag: str
    key: str


def refuse_used(wanted: WantedPort) -> None:
    """Conflict when the port is in use, Misconfigured when the host is none of this machine's."""
    family = socket.AF_INET6 if ":" in wanted.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # A listener is still found; a connection that has just ended is not in the way.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((wanted.host, wanted.port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise Conflict(
                    f"port {wanted.port} of the {wanted.whose} is in use: stop what listens there, "
                    f"or choose another with {wanted.flag} or {wanted.key}",
                    code="port_in_use",
                    field=wanted.key,
                ) from error
            raise Misconfigured(
                f"the {wanted.whose} cannot listen on {wanted.host}:{wanted.port} "
                f"({error.strerror}): mend {wanted.key} or its host",
                field=wanted.key,
            ) from error
