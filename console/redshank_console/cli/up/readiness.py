"""Asks a child whether it is ready."""

import asyncio
from collections.abc import Awaitable, Callable

ANSWER_SECONDS = 2.0
Probe = Callable[[], Awaitable[bool]]


def answers_health(host: str, port: int) -> Probe:
    """Whether GET /health answers 200 there."""
    request = f"GET /health HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()

    async def probe() -> bool:
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(request)
            return b" 200 " in await reader.readline()
        finally:
            writer.close()

    return probe


def answers_ping(socket_path: str, password: str) -> Probe:
    """Whether a Valkey on this socket takes the password and has loaded its data."""

    async def probe() -> bool:
        reader, writer = await asyncio.open_unix_connection(socket_path)
        try:
            writer.write(f"AUTH {password}\r\nPING\r\n".encode())
            return await reader.readline() == b"+OK\r\n" and await reader.readline() == b"+PONG\r\n"
        finally:
            writer.close()

    return probe


async def is_ready(probe: Probe) -> bool:
    """The probe's answer; no when it cannot be asked or does not answer in 2 s."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await probe()
    except (OSError, TimeoutError):
        return False
