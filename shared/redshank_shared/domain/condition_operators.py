"""What the signs between two values mean in a watch's condition."""

import ast
import operator
from collections.abc import Callable
from typing import Any

from redshank_shared.domain.condition_budget import (
    DEEPEST_VALUE,
    Evaluation,
    bounded,
    each,
    kind,
    refused,
)

Operation = Callable[[Evaluation, Any, Any], Any]

_ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_OTHER_ARITHMETIC: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Sub: ("-", operator.sub),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
}


def arithmetic(sign: ast.operator) -> Operation | None:
    """What this sign makes of two values, or None where a condition may not have it."""
    if isinstance(sign, ast.Add):
        return _added
    if isinstance(sign, ast.Mult):
        return _multiplied
    if type(sign) not in _OTHER_ARITHMETIC:
        return None
    shown, apply = _OTHER_ARITHMETIC[type(sign)]

    def calculate(evaluation: Evaluation, left: Any, right: Any) -> Any:
        _numbers_only(shown, left, right)
        return bounded(apply(left, right))

    return calculate


def comparison(sign: ast.cmpop) -> Operation:
    """What this comparison says of two values."""
    if type(sign) in _COMPARISONS:
        return _COMPARISONS[type(sign)]
    compare = _ORDERS[type(sign)]
    return lambda evaluation, left, right: ordered(evaluation, left, right, compare)


def equal(evaluation: Evaluation, left: Any, right: Any, depth: int = 0) -> bool:
    """Whether both are the same, at a step for each member that is looked at."""
    if depth > DEEPEST_VALUE:
        raise refused("it compares values that are nested too deep")
    if isinstance(left, str) and isinstance(right, str):
        evaluation.spend(min(len(left), len(right)) // 256)
        return left == right
    pairs: list[tuple[Any, Any]]
    if isinstance(left, list | tuple) and type(left) is type(right):
        if len(left) != len(right):
            return False
        evaluation.spend(len(left))
        pairs = list(zip(left, right, strict=True))
    elif isinstance(left, dict) and isinstance(right, dict):
        evaluation.spend(len(left))
        if left.keys() != right.keys():
            return False
        pairs = [(value, right[key]) for key, value in left.items()]
    else:
        return bool(left == right)
    return all(one is other or equal(evaluation, one, other, depth + 1) for one, other in pairs)


def ordered(
    evaluation: Evaluation, left: Any, right: Any, compare: Callable[[Any, Any], bool]
) -> bool:
    """What `<`, `<=`, `>`, `>=` say of two numbers or two texts; TypeError for anything else."""
    if isinstance(left, str) and isinstance(right, str):
        evaluation.spend(min(len(left), len(right)) // 256)
    elif not (isinstance(left, int | float) and isinstance(right, int | float)):
        raise TypeError(
            f"only two numbers or two texts are ordered, not {kind(left)} against {kind(right)}"
        )
    return compare(left, right)


def _added(evaluation: Evaluation, left: Any, right: Any) -> Any:
    """What `+` makes of two numbers, two texts or two lists."""
    if isinstance(left, str) and isinstance(right, str):
        evaluation.hold_text(len(left) + len(right))
    elif isinstance(left, list | tuple) and isinstance(right, list | tuple):
        evaluation.hold_references(len(left) + len(right))
        evaluation.spend((len(left) + len(right)) // 16)
    return bounded(left + right)


def _multiplied(evaluation: Evaluation, left: Any, right: Any) -> Any:
    """What `*` makes of two numbers; Invalid where it would repeat a text or a list."""
    _numbers_only("*", left, right)
    if isinstance(left, int) and isinstance(right, int):
        bounded(left)
        bounded(right)
    evaluation.spend(1)
    return bounded(operator.mul(left, right))


def _numbers_only(sign: str, left: Any, right: Any) -> None:
    """Raises Invalid where this sign would repeat or format a text or a list, TypeError where it
    means nothing.
    """
    for value in (left, right):
        if isinstance(value, int | float):
            continue
        if sign in ("*", "%") and isinstance(value, str | list | tuple):
            raise refused(f"{sign} is only for numbers, not for {kind(value)}")
        raise TypeError(f"{sign} is only for numbers, not for {kind(value)}")


def _contains(evaluation: Evaluation, container: Any, item: Any) -> bool:
    """What `item in container` says."""
    if isinstance(container, str):
        if not isinstance(item, str):
            raise TypeError(f"'in' looks for a text in a text, not for {kind(item)}")
        evaluation.search(container, item)
        return item in container
    if isinstance(container, dict | set):
        return item in container
    return any(
        member is item or equal(evaluation, member, item) for member in each(evaluation, container)
    )


_COMPARISONS: dict[type[ast.cmpop], Operation] = {
    ast.Eq: equal,
    ast.NotEq: lambda evaluation, left, right: not equal(evaluation, left, right),
    ast.In: lambda evaluation, left, right: _contains(evaluation, right, left),
    ast.NotIn: lambda evaluation, left, right: not _contains(evaluation, right, left),
    ast.Is: lambda evaluation, left, right: left is right,
    ast.IsNot: lambda evaluation, left, right: left is not right,
}
