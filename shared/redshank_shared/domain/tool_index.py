"""Finds tools by words: BM25 over names, descriptions, parameters."""

import heapq
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from redshank_shared.domain.messages import ToolDescription
from redshank_shared.domain.tool_words import words

_MOST_PROPERTIES = 256
_DEEPEST = 4
# Chosen on one half of the questions of BFCL v4; docs/mcp.md has what the other half says.
_SATURATION = 1.2
_NAMED = re.compile(r"[\w.-]+")


class _Field(msgspec.Struct, frozen=True):
    """What a word of this field counts, how far a long field counts less."""

    weight: float
    shortening: float


# In the order of `_fields_of`.
_FIELDS = (_Field(2.0, 0.2), _Field(1.0, 0.75), _Field(0.5, 0.75), _Field(0.8, 0.3))


class ToolIndex:
    """Tools as they are now; never changed once made. About 0.06 ms a tool to make."""

    def __init__(self, tools: Sequence[ToolDescription]) -> None:
        self._names = [tool.name for tool in tools]
        self._known = {tool.name.casefold(): tool.name for tool in reversed(tools)}
        self._known |= {tool.name: tool.name for tool in tools}
        self._weights = _weights([_fields_of(tool) for tool in tools])
        self._scores: dict[str, list[tuple[int, float]]] = {}

    def search(self, query: str, most: int) -> tuple[str, ...]:
        """The names of the tools that fit best, best first, at most so many (B-12).

        A tool whose exact name the query is comes first, then those whose names it has in it. Equal
        ones come by name, so that the same question has the same answer everywhere.
        """
        fit: defaultdict[int, float] = defaultdict(float)
        for word in dict.fromkeys(words(query)):
            for place, score in self._scores_of(word):
                fit[place] += score
        best = heapq.nsmallest(most, fit, key=lambda place: (-fit[place], self._names[place]))
        ranked = [*self._named_in(query), *(self._names[place] for place in best)]
        return tuple(dict.fromkeys(ranked))[:most]

    def _scores_of(self, word: str) -> list[tuple[int, float]]:
        """What the word counts for each tool: a rare one more, the same one again less each time.
        Worked out when it is first asked for, since most words never are.
        """
        kept = self._scores.get(word)
        having = self._weights.get(word)
        if kept is not None or having is None:
            return kept or []
        rarity = math.log(1 + (len(self._names) - len(having) + 0.5) / (len(having) + 0.5))
        scale = rarity * (1 + _SATURATION)
        kept = [(place, scale * weight / (weight + _SATURATION)) for place, weight in having]
        self._scores[word] = kept
        return kept

    def _named_in(self, query: str) -> Iterator[str]:
        whole = query.strip()
        for name in (whole, whole.casefold()):
            if name in self._known:
                yield self._known[name]
        for token in _NAMED.findall(whole):
            # A single word may be said without the tool of that name in mind.
            if "_" in token and token in self._known:
                yield self._known[token]


def _fields_of(tool: ToolDescription) -> tuple[list[str], ...]:
    names: list[str] = []
    told: list[str] = []
    for name, said in _properties(tool.parameters):
        names += words(name)
        told += words(said)
    return words(tool.name), words(tool.description), names, told


def _properties(schema: Any) -> Iterator[tuple[str, str]]:
    """Each property with what is said of it, those inside others too; what is no schema is passed
    over: a server wrote it.
    """
    left = _MOST_PROPERTIES
    open_schemas: list[tuple[Any, int]] = [(schema, 0)]
    while open_schemas and left > 0:
        here, depth = open_schemas.pop(0)
        if not isinstance(here, dict) or depth > _DEEPEST:
            continue
        properties = here.get("properties")
        for name, inner in properties.items() if isinstance(properties, dict) else ():
            left -= 1
            if left < 0:
                return
            yield str(name), " ".join(_said(inner))
            open_schemas.append((inner, depth + 1))
        open_schemas.append((here.get("items"), depth + 1))


def _said(schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    if isinstance(schema.get("description"), str):
        yield schema["description"]
    values = schema.get("enum")
    for value in values[:_MOST_PROPERTIES] if isinstance(values, list) else ():
        if isinstance(value, str):
            yield value


def _weights(documents: Sequence[tuple[list[str], ...]]) -> dict[str, list[tuple[int, float]]]:
    """For each word the tools that have it, with how much of it they have."""
    usual = [_mean(len(document[at]) for document in documents) for at in range(len(_FIELDS))]
    found: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for place, document in enumerate(documents):
        weights: dict[str, float] = {}
        for field, said, length in zip(_FIELDS, document, usual, strict=True):
            step = field.weight / (1 - field.shortening + field.shortening * len(said) / length)
            for word in said:
                weights[word] = weights.get(word, 0.0) + step
        for word, weight in weights.items():
            found[word].append((place, weight))
    return found


def _mean(lengths: Iterable[int]) -> float:
    found = list(lengths)
    return max(1.0, sum(found) / len(found)) if found else 1.0
