"""What one evaluation of a watch's condition may cost."""

from collections.abc import Iterator
from types import GeneratorType
from typing import Any

from redshank_shared.domain.errors import Invalid

MOST_STEPS = 40_000
MOST_BYTES = 16 * 1024 * 1024
LONGEST_TEXT = 256 * 1024
MOST_BITS = 1024
DEEPEST_VALUE = 60

_BYTES_PER_CHARACTER = 4
_BYTES_PER_REFERENCE = 8
_BYTES_PER_TEXT = 50


class Evaluation:
    """The values that the names of an expression stand for, along with the steps and bytes spent
    so far: an estimate from above, and nothing is ever given back. Every method that counts raises
    Invalid once the bound is passed.
    """

    __slots__ = ("bytes", "steps", "values")

    def __init__(self, values: list[Any]) -> None:
        self.values = values
        self.steps = 0
        self.bytes = 0

    def spend(self, steps: int) -> None:
        """Counts time."""
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise refused("it takes too long (too many steps); look at less of the output")

    def hold(self, size: int) -> None:
        """Counts memory, before it is taken wherever the size is known before."""
        self.bytes += size
        if self.bytes > MOST_BYTES:
            raise refused("it needs too much memory; look at less of the output")

    def hold_text(self, length: int) -> None:
        """Counts the memory of a text of this many characters."""
        if length > LONGEST_TEXT:
            raise refused(f"it makes a text longer than {LONGEST_TEXT} characters")
        self.hold(_BYTES_PER_TEXT + _BYTES_PER_CHARACTER * length)

    def hold_references(self, count: int) -> None:
        """Counts the memory of a list of this many values that are there already."""
        self.hold(_BYTES_PER_TEXT + _BYTES_PER_REFERENCE * count)

    def hold_texts(self, texts: list[str]) -> list[str]:
        """Counts a list of new texts; gives it back."""
        self.spend(len(texts) // 8)
        characters = sum(map(len, texts))
        self.hold((_BYTES_PER_TEXT + _BYTES_PER_REFERENCE) * len(texts))
        self.hold(_BYTES_PER_CHARACTER * characters)
        return texts

    def search(self, text: str, sought: str) -> None:
        """Counts a search, whose time grows with both lengths at worst."""
        self.spend(1 + len(text) * min(len(sought), 100) // 512)


def refused(reason: str) -> Invalid:
    """A condition that may not be, or not with this output."""
    return Invalid(f"stop_on is refused: {reason}", field="stop_on")


def kind(value: object) -> str:
    """What a value is, in words for whoever wrote the condition."""
    if value is None:
        return "None"
    names = {"str": "text", "dict": "object", "bool": "truth value"}
    name = type(value).__name__
    return names.get(name, "number" if isinstance(value, int | float) else name)


def bounded(number: Any) -> Any:
    """The number itself; raises Invalid when it is an integer of more than 1,024 bits."""
    if isinstance(number, int) and number.bit_length() > MOST_BITS:
        raise refused(f"a number has more than {MOST_BITS} bits")
    return number


def each(evaluation: Evaluation, value: Any) -> Iterator[Any]:
    """The members one after the other, a step each. Raises TypeError where there are none."""
    if isinstance(value, GeneratorType):
        yield from value
        return
    if not isinstance(value, list | tuple | set | dict | str):
        raise TypeError(f"{kind(value)} has no members to go through")
    for member in value:
        evaluation.spend(1)
        yield member


def weigh(evaluation: Evaluation, value: Any, depth: int = 0) -> None:
    """Counts what the text form of a value costs, before it is made."""
    if depth > DEEPEST_VALUE:
        raise refused("it writes out a value that is nested too deep")
    evaluation.spend(1)
    if isinstance(value, str):
        # A character that cannot be shown is written as up to ten.
        evaluation.hold(_BYTES_PER_TEXT + 10 * len(value))
    elif isinstance(value, dict):
        for key, member in value.items():
            weigh(evaluation, key, depth + 1)
            weigh(evaluation, member, depth + 1)
    elif isinstance(value, list | tuple | set):
        for member in value:
            weigh(evaluation, member, depth + 1)
    else:
        evaluation.hold(_BYTES_PER_TEXT)
        bounded(value)
