"""Writes log records to standard error, for people or as JSON, with secrets masked."""

import logging
import sys
from collections.abc import Callable
from typing import Literal, TextIO

import msgspec
import structlog


def configure(
    level: Literal["debug", "info", "warning", "error"],
    form: Literal["console", "json"],
    *,
    redact: Callable[[str], str],
    stream: TextIO | None = None,
) -> None:
    """Send every logger's records of this level and above to `stream` (standard error if none).

    JSON is one object a line: `at` (RFC 3339 UTC), `level`, `logger`, `event`, `exception` if any.
    Each record goes through `redact` whole, its traceback too: no secret may be in it (F12).
    """
    handler = logging.StreamHandler(stream if stream is not None else sys.stderr)
    handler.setFormatter(_Masking(_formatter(form), redact))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # httpx tells of every request at INFO, rq of every job three times.
    for name in ("httpx", "httpcore", "rq.worker"):
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


class _Masking(logging.Formatter):
    def __init__(self, inner: logging.Formatter, redact: Callable[[str], str]) -> None:
        super().__init__()
        self._inner = inner
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(self._inner.format(record))


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
