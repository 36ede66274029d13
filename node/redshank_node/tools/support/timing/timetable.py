"""Reads a cadence from the arguments of a call."""

from typing import Any

from redshank_node.tools.support.refusals import on_argument
from redshank_node.tools.support.timing import times
from redshank_node.tools.tool import BadArguments
from redshank_shared.domain import cadence as cadences
from redshank_shared.domain.cadence import Cadence, Cron, Interval, Once
from redshank_shared.domain.errors import Invalid

PARAMETERS: dict[str, Any] = {
    "once": {
        "type": "object",
        "properties": {
            "at": {
                "type": "string",
                "description": "RFC 3339 time with offset. A past one is due now.",
            }
        },
        "required": ["at"],
        "additionalProperties": False,
        "description": "Due at one moment.",
    },
    "interval": {
        "type": "object",
        "properties": {
            "every_seconds": {
                "type": "integer",
                "minimum": cadences.SHORTEST_INTERVAL_SECONDS,
                "maximum": cadences.LONGEST_INTERVAL_SECONDS,
                "description": "First due after one interval.",
            }
        },
        "required": ["every_seconds"],
        "additionalProperties": False,
        "description": "Due again and again.",
    },
    "cron": {
        "type": "object",
        "properties": {
            "expression": {
                "type": "string",
                "minLength": 1,
                "description": (
                    "Five fields (minute hour day month weekday), six with the second in front, "
                    "seven with the year at the end, or @hourly, @daily, @weekly, @monthly, "
                    "@yearly. With six or seven, weekday 1 is Sunday."
                ),
            },
            "timezone": {"type": "string", "description": "IANA zone. Default UTC."},
        },
        "required": ["expression"],
        "additionalProperties": False,
        "description": "Due whenever the local time matches.",
    },
}


def cadence(arguments: dict[str, Any], now: float) -> Cadence:
    """The one cadence that is given, counted from `now` (seconds since 1970); else BadArguments."""
    with on_argument("cadence"):
        kind = cadences.exactly_one({name: arguments.get(name) for name in PARAMETERS})
    given = arguments[kind]
    match kind:
        case "once":
            return Once(times.moment(given["at"], "once.at"))
        case "interval":
            return Interval(given["every_seconds"], now)
        case _:
            return _cron(Cron(given["expression"], given.get("timezone", "UTC")), now)


def shown(cadence: Cadence) -> str:
    """A cadence in a few words."""
    match cadence:
        case Once():
            return f"once at {times.shown_moment(cadence.at)}"
        case Interval():
            return f"every {times.shown_duration(cadence.every_seconds)}"
        case Cron():
            return f"cron {cadence.expression} ({cadence.timezone})"


def _cron(given: Cron, now: float) -> Cron:
    try:
        cadences.check(given, now)
    except Invalid as refused:
        raise BadArguments(f"cron.{refused.field or 'expression'}: {refused.detail}") from None
    return given
