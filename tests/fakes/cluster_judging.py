"""Judges the log of a workstream: what must be true of it, whatever was killed."""

import json
from collections import Counter
from collections.abc import Iterable

from tests.fakes.cluster_client import Event

RESULTS = ("call.finished", "call.interrupted")


def of_kind(events: Iterable[Event], *kinds: str) -> list[Event]:
    """The events of these kinds, in order."""
    return [event for event in events if event["kind"] in kinds]


def kinds(events: Iterable[Event]) -> list[str]:
    """The kinds, in order."""
    return [event["kind"] for event in events]


def is_without_gaps(events: list[Event]) -> bool:
    """Whether the numbers are 1, 2, 3 …"""
    return [event["seq"] for event in events] == list(range(1, len(events) + 1))


def asked_commands(events: Iterable[Event]) -> dict[str, str]:
    """The shell command of each bash call that was asked for, by call id."""
    return {
        call["call_id"]: json.loads(call["arguments"])["command"]
        for answer in of_kind(events, "message.assistant")
        for call in answer["calls"]
        if call["tool"] == "bash"
    }


def calls_without_exactly_one_result(events: list[Event]) -> dict[str, int]:
    """How many results the others have, by call id; empty where all is well."""
    asked = [
        call["call_id"]
        for answer in of_kind(events, "message.assistant")
        for call in answer["calls"]
    ]
    results = Counter(event["call_id"] for event in of_kind(events, *RESULTS))
    counts = {call_id: results[call_id] for call_id in {*asked, *results}}
    return {
        call_id: count for call_id, count in counts.items() if count != 1 or call_id not in asked
    }


def calls_started_twice(events: list[Event]) -> list[str]:
    """Calls with an effect whose start was recorded more than once; none where all is well."""
    starts = Counter(
        event["call_id"] for event in of_kind(events, "call.started") if event["effect"] != "read"
    )
    return [call_id for call_id, count in starts.items() if count > 1]


def unanswered_messages(events: list[Event]) -> list[int]:
    """The numbers of messages that no later answer has read; none where all is well."""
    read = max((answer["read"] for answer in of_kind(events, "message.assistant")), default=0)
    return [event["seq"] for event in of_kind(events, "message.user") if event["seq"] > read]


def faults(events: list[Event]) -> dict[str, object]:
    """What is wrong with the log of a workstream at rest; empty where all is well."""
    found = {
        "gaps": not is_without_gaps(events),
        "results": calls_without_exactly_one_result(events),
        "started twice": calls_started_twice(events),
        "unanswered": unanswered_messages(events),
    }
    return {name: fault for name, fault in found.items() if fault}
