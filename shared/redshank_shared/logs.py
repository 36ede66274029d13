"""Writes log records to standard error, for people or as JSON, with secrets masked."""

import logging
import re
import sys
from collections.abc import Iterable
from typing import Literal, TextIO

import msgspec
import structlog

MASK = "***"
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}")
_USERINFO = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*://[^\s/:@]*):[^\s/@]+@")
_SHORTEST_SECRET = 6


def configure(
    level: Literal["debug", "info", "warning", "error"],
    form: Literal["console", "json"],
    *,
    secrets: Iterable[str] = (),
    stream: TextIO | None = None,
) -> None:
    """Send every logger's records of this level and above to `stream` (standard error if none).

    JSON is one object a line: `at` (RFC 3339 UTC), `level`, `logger`, `event`, `exception` if any.
    Bearer tokens, passwords in addresses, `secrets` are masked wherever they stand (law 7, F12).
    """
    handler = logging.StreamHandler(stream if stream is not None else sys.stderr)
    handler.setFormatter(_Masking(_formatter(form), tuple(secrets)))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # httpx tells of every request at INFO, rq of every job three times.
    for name in ("httpx", "httpcore", "rq.worker"):
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


def masked(text: str, secrets: Iterable[str] = ()) -> str:
    """The text with every secret, bearer token, password in an address replaced by a mask.

    Secrets of fewer than 6 characters are passed over: masking them would eat ordinary words.
    """
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, MASK)
    return _USERINFO.sub(rf"\g<scheme>:{MASK}@", _BEARER.sub(rf"\1 {MASK}", text))


class _Masking(logging.Formatter):
    def __init__(self, inner: logging.Formatter, secrets: tuple[str, ...]) -> None:
        super().__init__()
        self._inner = inner
        self._secrets = secrets

    def format(self, record: logging.LogRecord) -> str:
        return masked(self._inner.format(record), self._secrets)


def _formatter(form: Literal["console", "json"]) -> logging.Formatter:
    before: list[structlog.typing.Processor] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        _without_colours,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
    ]
    if form == "json":
        rendering: list[structlog.typing.Processor] = [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(serializer=_json),
        ]
    else:
        rendering = [
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(),
                timestamp_key="at",
                exception_formatter=structlog.dev.plain_traceback,
            ),
        ]
    return structlog.stdlib.ProcessorFormatter(foreign_pre_chain=before, processors=rendering)


def _without_colours(
    _: object, __: str, entry: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    # uvicorn says every line twice, once for terminals.
    entry.pop("color_message", None)
    return entry


def _json(entry: object, **_: object) -> str:
    return msgspec.json.encode(entry, enc_hook=repr).decode()
