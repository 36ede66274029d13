"""Finds the route of a request before its body is read, with what the route needs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from redshank_console.api.route_needs import NEEDS, Need

_PARAMETER = "{}"
_LEAST_FIRST: tuple[Need, ...] = ("open", "signed_in", "read", "operate", "approve", "admin")


class Place(msgspec.Struct, frozen=True):
    """A route as it is written, such as `GET /v1/workstreams/{id}`, with what it needs."""

    method: str
    path: str
    need: Need


class Routing:
    """Where several routes fit, the one that needs most decides."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._by_noun: dict[tuple[int, str], list[tuple[tuple[str, ...], Place]]] = {}
        self._fixed: dict[str, list[Place]] = {}
        for place in places:
            segments = _segments(place.path)
            if _PARAMETER in segments:
                self._by_noun.setdefault(_noun(segments), []).append((segments, place))
            else:
                self._fixed.setdefault(place.path, []).append(place)

    def find(self, method: str, path: str) -> Place | None:
        """The route of this request; None where there is none."""
        fitting = [place for place in self._at(path) if place.method == method]
        return max(fitting, key=lambda place: _LEAST_FIRST.index(place.need), default=None)

    def methods(self, path: str) -> list[str]:
        """What this path takes, nothing where there is no such path."""
        return sorted({place.method for place in self._at(path)})

    def _at(self, path: str) -> Iterator[Place]:
        yield from self._fixed.get(path, ())
        given = path.split("/")
        for noun in (_noun(given), (len(given), _PARAMETER)):
            for segments, place in self._by_noun.get(noun, ()):
                if all(map(_fits, segments, given)):
                    yield place


def places(app: FastAPI, needs: Mapping[str, Need] = NEEDS) -> list[Place]:
    """Every route of the app; one without a line in the table is an admin's alone."""
    found = []
    for route in iter_route_contexts(app.routes):
        path = route.path_format or ""
        # Files of the page, which the door opens by their beginning.
        if ":path}" not in (route.path or ""):
            found += [
                Place(method, path, needs.get(f"{method} {path}", "admin"))
                for method in sorted(route.methods or ())
            ]
    return found


def _noun(segments: Sequence[str]) -> tuple[int, str]:
    """What most routes differ by: how long they are, what stands behind the version."""
    return len(segments), segments[2] if len(segments) > 2 else _PARAMETER


def _segments(path: str) -> tuple[str, ...]:
    return tuple(_PARAMETER if each[:1] == "{" else each for each in path.split("/"))


def _fits(segment: str, given: str) -> bool:
    return segment == given or (segment == _PARAMETER and given != "")
