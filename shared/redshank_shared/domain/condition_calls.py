"""The functions with the methods that a watch's condition may call."""

from collections.abc import Callable
from typing import Any

from redshank_shared.domain.condition_budget import (
    Evaluation,
    bounded,
    each,
    kind,
    refused,
    weigh,
)
from redshank_shared.domain.condition_operators import ordered

# Python itself reads no decimal number that is longer; reading takes the square of the length.
_LONGEST_NUMBER = 4_300

Arguments = list[Any]
Function = Callable[[Evaluation, Arguments, dict[str, Any]], Any]
Method = Callable[[Evaluation, Any, Arguments], Any]

# T-51 names the functions; `list` and `dict` stand only behind isinstance.
TYPES: dict[str, type] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "list": list,
    "dict": dict,
}


def _count(names: str, arguments: Arguments, least: int, most: int) -> None:
    if not least <= len(arguments) <= most:
        raise TypeError(f"{names} takes {least} to {most} values, got {len(arguments)}")


def _len(evaluation: Evaluation, arguments: Arguments, _: dict[str, Any]) -> int:
    _count("len", arguments, 1, 1)
    return len(arguments[0])


def _str(evaluation: Evaluation, arguments: Arguments, _: dict[str, Any]) -> str:
    _count("str", arguments, 1, 1)
    weigh(evaluation, arguments[0])
    return str(arguments[0])


def _int(evaluation: Evaluation, arguments: Arguments, _: dict[str, Any]) -> int:
    _count("int", arguments, 1, 2)
    _fit_for_a_number(evaluation, arguments[0])
    number: int = bounded(int(*arguments))
    return number


def _float(evaluation: Evaluation, arguments: Arguments, _: dict[str, Any]) -> float:
    _count("float", arguments, 1, 1)
    _fit_for_a_number(evaluation, arguments[0])
    return float(arguments[0])


def _fit_for_a_number(evaluation: Evaluation, value: Any) -> None:
    if not isinstance(value, str):
        return
    if len(value) > _LONGEST_NUMBER:
        raise ValueError(f"a text of {len(value)} characters is no number")
    evaluation.spend(4 + len(value) // 8)


def _bool(evaluation: Evaluation, arguments: Arguments, _: dict[str, Any]) -> bool:
    _count("bool", arguments, 1, 1)
    return bool(arguments[0])


def _abs(evaluation: Evaluation, arguments: Arguments, _: dict[str, Any]) -> Any:
    _count("abs", arguments, 1, 1)
    return abs(arguments[0])


def _any(evaluation: Evaluation, arguments: Arguments, _: dict[str, Any]) -> bool:
    _count("any", arguments, 1, 1)
    return any(each(evaluation, arguments[0]))


def _all(evaluation: Evaluation, arguments: Arguments, _: dict[str, Any]) -> bool:
    _count("all", arguments, 1, 1)
    return all(each(evaluation, arguments[0]))


def _least(evaluation: Evaluation, arguments: Arguments, options: dict[str, Any]) -> Any:
    return _extreme(evaluation, arguments, options, lambda new, best: bool(new < best))


def _greatest(evaluation: Evaluation, arguments: Arguments, options: dict[str, Any]) -> Any:
    return _extreme(evaluation, arguments, options, lambda new, best: bool(new > best))


def _extreme(
    evaluation: Evaluation,
    arguments: Arguments,
    options: dict[str, Any],
    better: Callable[[Any, Any], bool],
) -> Any:
    members = each(evaluation, arguments[0] if len(arguments) == 1 else arguments)
    try:
        best = next(members)
    except StopIteration:
        if "default" in options:
            return options["default"]
        raise ValueError("min and max need at least one value, or a default=") from None
    for member in members:
        if ordered(evaluation, member, best, better):
            best = member
    return best


def _sorted(evaluation: Evaluation, arguments: Arguments, options: dict[str, Any]) -> list[Any]:
    _count("sorted", arguments, 1, 1)
    members = list(each(evaluation, arguments[0]))
    if not (
        all(isinstance(member, str) for member in members)
        or all(isinstance(member, int | float) for member in members)
    ):
        raise TypeError("sorted takes only numbers or only texts")
    evaluation.hold_references(len(members))
    evaluation.spend(len(members) * len(members).bit_length() // 8)
    return sorted(members, reverse=bool(options.get("reverse", False)))


FUNCTIONS: dict[str, Function] = {
    "len": _len,
    "str": _str,
    "int": _int,
    "float": _float,
    "bool": _bool,
    "abs": _abs,
    "min": _least,
    "max": _greatest,
    "any": _any,
    "all": _all,
    "sorted": _sorted,
}
# `isinstance` is made of TYPES when the expression is read: a type is never a value.
FUNCTION_NAMES = (*FUNCTIONS, "isinstance")
OPTIONS = {"sorted": ("reverse",), "min": ("default",), "max": ("default",)}
TAKES_GENERATORS = ("any", "all", "min", "max", "sorted", "join")


def _plain(name: str) -> Method:
    """A method of a text whose time and result grow with the text alone."""

    def call(evaluation: Evaluation, text: str, arguments: Arguments) -> Any:
        evaluation.spend(1 + len(text) // 16)
        # "ŉ" and its like become up to three characters.
        evaluation.hold_text(len(text))
        return getattr(text, name)(*arguments)

    return call


def _searching(name: str) -> Method:
    """A method of a text that looks for another one in it."""

    def call(evaluation: Evaluation, text: str, arguments: Arguments) -> Any:
        evaluation.spend(1 + len(text) // 64)
        if arguments and isinstance(arguments[0], str):
            evaluation.search(text, arguments[0])
        return getattr(text, name)(*arguments)

    return call


def _stripping(name: str) -> Method:
    def call(evaluation: Evaluation, text: str, arguments: Arguments) -> Any:
        widest = len(arguments[0]) if arguments and isinstance(arguments[0], str) else 1
        evaluation.spend(1 + len(text) * (1 + widest) // 512)
        evaluation.hold_text(len(text))
        return getattr(text, name)(*arguments)

    return call


def _cutting(name: str) -> Method:
    """A method that cuts a text into many."""
    search = _searching(name)

    def call(evaluation: Evaluation, text: str, arguments: Arguments) -> Any:
        return evaluation.hold_texts(list(search(evaluation, text, arguments)))

    return call


def _replace(evaluation: Evaluation, text: str, arguments: Arguments) -> str:
    _count("replace", arguments, 2, 3)
    old, new, *most = arguments
    if not (isinstance(old, str) and isinstance(new, str)):
        raise TypeError(f"replace takes two texts, not {kind(old)} with {kind(new)}")
    evaluation.search(text, old)
    times = text.count(old)
    if most and isinstance(most[0], int) and most[0] >= 0:
        times = min(times, most[0])
    evaluation.spend(1 + len(text) // 64 + times // 16)
    evaluation.hold_text(len(text) + times * max(len(new) - len(old), 0))
    return text.replace(old, new, *most)


def _join(evaluation: Evaluation, text: str, arguments: Arguments) -> str:
    _count("join", arguments, 1, 1)
    parts = list(each(evaluation, arguments[0]))
    if not all(isinstance(part, str) for part in parts):
        raise TypeError("join takes only texts")
    evaluation.hold_references(len(parts))
    evaluation.hold_text(sum(map(len, parts)) + len(text) * max(len(parts) - 1, 0))
    return text.join(parts)


def _get(evaluation: Evaluation, value: dict[Any, Any], arguments: Arguments) -> Any:
    return value.get(*arguments)


def _listing(name: str) -> Method:
    def call(evaluation: Evaluation, value: dict[Any, Any], arguments: Arguments) -> Any:
        evaluation.spend(1 + len(value) // 8)
        evaluation.hold_references(len(value) * (8 if name == "items" else 1))
        return list(getattr(value, name)(*arguments))

    return call


_OF_TEXTS: dict[str, Method] = {
    **{
        name: _plain(name)
        for name in ("lower", "upper", "casefold", "title", "capitalize")
        + ("isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "isnumeric")
        + ("removeprefix", "removesuffix")
    },
    **{name: _searching(name) for name in ("startswith", "endswith")},
    **{name: _searching(name) for name in ("find", "rfind", "index", "rindex", "count")},
    **{name: _stripping(name) for name in ("strip", "lstrip", "rstrip")},
    **{
        name: _cutting(name)
        for name in ("split", "rsplit", "splitlines", "partition", "rpartition")
    },
    "replace": _replace,
    "join": _join,
}
_OF_OBJECTS: dict[str, Method] = {
    "get": _get,
    **{name: _listing(name) for name in ("keys", "values", "items")},
}
METHOD_NAMES = (*_OF_TEXTS, *_OF_OBJECTS)


def call_method(evaluation: Evaluation, value: Any, name: str, arguments: Arguments) -> Any:
    """What the method of a text or of an object gives. Raises AttributeError where the value has
    no such method, Invalid where it is not among METHOD_NAMES.
    """
    if name not in METHOD_NAMES:
        raise refused(f"there is no method {name}")
    methods = _OF_TEXTS if isinstance(value, str) else _OF_OBJECTS
    if name not in methods or not isinstance(value, str | dict):
        raise AttributeError(f"{kind(value)} has no {name}")
    return methods[name](evaluation, value, arguments)
