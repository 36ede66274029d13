"""Turns the text of a watch's condition into a function of its variables."""

import ast
import operator
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from redshank_shared.domain.condition_budget import Evaluation, bounded, each, kind, refused
from redshank_shared.domain.condition_calls import (
    FUNCTION_NAMES,
    FUNCTIONS,
    METHOD_NAMES,
    OPTIONS,
    TAKES_GENERATORS,
    TYPES,
    call_method,
)
from redshank_shared.domain.condition_operators import arithmetic, comparison
from redshank_shared.domain.errors import Invalid

VARIABLES = ("output", "data", "exit_code", "prev_output", "changed")
LONGEST_EXPRESSION = 2_000
DEEPEST_EXPRESSION = 40

Evaluated = Callable[[Evaluation], Any]

_WHY_NOT: dict[type[ast.expr], str] = {
    ast.Lambda: "no lambda may be made",
    ast.NamedExpr: "nothing may be assigned",
    ast.JoinedStr: "no f-string may be made",
    ast.Attribute: "an attribute cannot be read; a method can be called: "
    + ", ".join(sorted(METHOD_NAMES)),
    ast.GeneratorExp: f"a generator stands only inside {', '.join(TAKES_GENERATORS)}; give a list",
    ast.SetComp: "no set may be gathered; give a list",
    ast.DictComp: "no object may be made",
    ast.Dict: "no object may be made",
    ast.Starred: "no star may stand before a value",
}
_SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


def compile_expression(text: str) -> tuple[Evaluated, int]:
    """A function of an Evaluation, along with how many values that must hold: VARIABLES in their
    order first. Raises Invalid on `stop_on` with the column (from 1) to blame (T-51, F36).
    """
    source = text.lstrip()
    compiler = _Compiler(source, blanks=len(text) - len(source))
    return compiler.compile(_parsed(text).body), compiler.size


def _parsed(text: str) -> ast.Expression:
    source = text.lstrip()
    if not source:
        raise refused("it is empty; leave it out to fire on any change of the output")
    if len(text) > LONGEST_EXPRESSION:
        raise refused(f"it has {len(text)} characters, at most {LONGEST_EXPRESSION} are read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source, mode="eval")
    except SyntaxError as error:
        if not error.offset:
            raise refused(f"syntax error at column {len(text) + 1}: it ends too soon") from error
        place = _place(error.lineno or 1, error.offset, len(text) - len(source))
        raise refused(f"syntax error at {place}: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise refused("it cannot be read as an expression; make it simpler") from error


def _place(line: int, column: int, blanks: int) -> str:
    return f"column {column + blanks}" if line == 1 else f"line {line}, column {column}"


class _Compiler:
    """Reads one expression, once."""

    def __init__(self, source: str, blanks: int) -> None:
        self._lines = source.split("\n")
        self._blanks = blanks
        self._names = {name: slot for slot, name in enumerate(VARIABLES)}
        self._depth = 0
        self.size = len(VARIABLES)
        self._readers: dict[type[ast.expr], Callable[[Any], Evaluated]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.BoolOp: self._bool_op,
            ast.UnaryOp: self._unary_op,
            ast.BinOp: self._bin_op,
            ast.Compare: self._compare,
            ast.IfExp: self._if_else,
            ast.Call: self._call,
            ast.Subscript: self._subscript,
            ast.Slice: self._slice,
            ast.List: self._list,
            ast.Tuple: self._tuple,
            ast.Set: self._set,
            ast.ListComp: self._list_comprehension,
        }

    def compile(self, node: ast.expr) -> Evaluated:
        reader = self._readers.get(type(node))
        if reader is None:
            name = type(node).__name__
            raise self._refused(node, _WHY_NOT.get(type(node), f"{name} is not allowed"))
        self._depth += 1
        if self._depth > DEEPEST_EXPRESSION:
            raise self._refused(node, f"it is nested deeper than {DEEPEST_EXPRESSION}")
        compiled = reader(node)
        self._depth -= 1
        return compiled

    def _refused(self, node: ast.AST, reason: str) -> Invalid:
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        if isinstance(node, ast.Attribute):
            line, offset = node.end_lineno or line, (node.end_col_offset or 0) - len(node.attr)
        before = self._lines[line - 1].encode()[:offset].decode(errors="replace")
        return refused(f"{_place(line, len(before) + 1, self._blanks)}: {reason}")

    def _constant(self, node: ast.Constant) -> Evaluated:
        value: Any = node.value
        if not isinstance(value, str | int | float | None):
            raise self._refused(node, "only texts, numbers, True, False and None are values")
        bounded(value)
        return lambda evaluation: value

    def _name(self, node: ast.Name) -> Evaluated:
        slot = self._names.get(node.id)
        if slot is None and node.id in FUNCTION_NAMES:
            raise self._refused(node, f"{node.id} is a function and must be called")
        if slot is None:
            raise self._refused(
                node, f"there is no {node.id[:40]}; the variables are {', '.join(VARIABLES)}"
            )
        at = slot
        return lambda evaluation: evaluation.values[at]

    def _bool_op(self, node: ast.BoolOp) -> Evaluated:
        parts = [self.compile(part) for part in node.values]
        stops_at = isinstance(node.op, ast.Or)

        def evaluate(evaluation: Evaluation) -> Any:
            value = None
            for part in parts:
                value = part(evaluation)
                if bool(value) is stops_at:
                    break
            return value

        return evaluate

    def _unary_op(self, node: ast.UnaryOp) -> Evaluated:
        sign = _SIGNS.get(type(node.op))
        if sign is None:
            raise self._refused(node, "only not, - and + may stand before a value")
        operand, apply = self.compile(node.operand), sign
        return lambda evaluation: apply(operand(evaluation))

    def _bin_op(self, node: ast.BinOp) -> Evaluated:
        combine = arithmetic(node.op)
        if combine is None:
            raise self._refused(node, "only + - * / // % are allowed between values")
        left, right, apply = self.compile(node.left), self.compile(node.right), combine

        def evaluate(evaluation: Evaluation) -> Any:
            evaluation.spend(1)
            return apply(evaluation, left(evaluation), right(evaluation))

        return evaluate

    def _compare(self, node: ast.Compare) -> Evaluated:
        first = self.compile(node.left)
        steps = []
        for sign, side in zip(node.ops, node.comparators, strict=True):
            if isinstance(sign, ast.Is | ast.IsNot) and not _is_singleton(side):
                raise self._refused(side, "'is' takes None, True or False; write ==")
            steps.append((comparison(sign), self.compile(side)))

        def evaluate(evaluation: Evaluation) -> bool:
            left = first(evaluation)
            for compare, side in steps:
                evaluation.spend(1)
                right = side(evaluation)
                if not compare(evaluation, left, right):
                    return False
                left = right
            return True

        return evaluate

    def _if_else(self, node: ast.IfExp) -> Evaluated:
        test, then, other = (self.compile(part) for part in (node.test, node.body, node.orelse))
        return lambda evaluation: then(evaluation) if test(evaluation) else other(evaluation)

    def _call(self, node: ast.Call) -> Evaluated:
        if isinstance(node.func, ast.Attribute):
            return self._method_call(node, node.func)
        if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTION_NAMES:
            raise self._refused(node, f"only these can be called: {', '.join(FUNCTION_NAMES)}")
        name = node.func.id
        if name == "isinstance":
            return self._isinstance(node)
        for keyword in node.keywords:
            if keyword.arg not in OPTIONS.get(name, ()):
                raise self._refused(keyword, f"{name} takes no {keyword.arg or '**'}")
        function, arguments = FUNCTIONS[name], self._arguments(name, node.args)
        options = {str(word.arg): self.compile(word.value) for word in node.keywords}

        def evaluate(evaluation: Evaluation) -> Any:
            evaluation.spend(1)
            given = [argument(evaluation) for argument in arguments]
            named = {word: option(evaluation) for word, option in options.items()}
            return function(evaluation, given, named)

        return evaluate

    def _method_call(self, node: ast.Call, function: ast.Attribute) -> Evaluated:
        name = function.attr
        if name not in METHOD_NAMES:
            raise self._refused(
                function,
                f"there is no method {name[:40]}; there are {', '.join(sorted(METHOD_NAMES))}",
            )
        if node.keywords:
            raise self._refused(node, f"{name} takes its values without names")
        owner, arguments = self.compile(function.value), self._arguments(name, node.args)

        def evaluate(evaluation: Evaluation) -> Any:
            evaluation.spend(2)
            value = owner(evaluation)
            return call_method(
                evaluation, value, name, [argument(evaluation) for argument in arguments]
            )

        return evaluate

    def _arguments(self, function: str, nodes: list[ast.expr]) -> list[Evaluated]:
        takes_generator = function in TAKES_GENERATORS and len(nodes) == 1
        return [
            self._comprehension(node.elt, node.generators)
            if takes_generator and isinstance(node, ast.GeneratorExp)
            else self.compile(node)
            for node in nodes
        ]

    def _isinstance(self, node: ast.Call) -> Evaluated:
        named = node.args[1:] if not node.keywords else []
        if len(named) == 1 and isinstance(named[0], ast.Tuple):
            named = named[0].elts
        types = tuple(
            TYPES[name.id] for name in named if isinstance(name, ast.Name) and name.id in TYPES
        )
        if len(node.args) != 2 or len(types) != len(named):
            raise self._refused(
                node, f"isinstance takes a value, then one or several of {', '.join(TYPES)}"
            )
        value = self.compile(node.args[0])
        return lambda evaluation: isinstance(value(evaluation), types)

    def _subscript(self, node: ast.Subscript) -> Evaluated:
        owner, key = self.compile(node.value), self.compile(node.slice)

        def evaluate(evaluation: Evaluation) -> Any:
            evaluation.spend(1)
            value, index = owner(evaluation), key(evaluation)
            if not isinstance(value, str | list | tuple | dict):
                raise TypeError(f"{kind(value)} has no members, so none can be taken with [...]")
            if isinstance(index, slice):
                evaluation.spend(len(value) // 64)
                evaluation.hold(4 * len(value) if isinstance(value, str) else 8 * len(value))
            return value[index]

        return evaluate

    def _slice(self, node: ast.Slice) -> Evaluated:
        bounds = [
            (lambda evaluation: None) if bound is None else self.compile(bound)
            for bound in (node.lower, node.upper, node.step)
        ]
        return lambda evaluation: slice(*(bound(evaluation) for bound in bounds))

    def _list(self, node: ast.List | ast.Tuple | ast.Set) -> Evaluated:
        members = [self.compile(member) for member in node.elts]

        def evaluate(evaluation: Evaluation) -> list[Any]:
            evaluation.spend(1)
            evaluation.hold_references(len(members))
            return [member(evaluation) for member in members]

        return evaluate

    def _tuple(self, node: ast.Tuple) -> Evaluated:
        members = self._list(node)
        return lambda evaluation: tuple(members(evaluation))

    def _set(self, node: ast.Set) -> Evaluated:
        members = self._list(node)
        return lambda evaluation: set(members(evaluation))

    def _list_comprehension(self, node: ast.ListComp) -> Evaluated:
        members = self._comprehension(node.elt, node.generators)
        return lambda evaluation: list(_held(evaluation, members(evaluation)))

    def _comprehension(
        self, element: ast.expr, loops: list[ast.comprehension]
    ) -> Callable[[Evaluation], Iterator[Any]]:
        outside = self._names
        self._names = dict(outside)
        read = [self._loop(loop) for loop in loops]
        value = self.compile(element)
        self._names = outside

        def run(evaluation: Evaluation, level: int) -> Iterator[Any]:
            if level == len(read):
                yield value(evaluation)
                return
            source, assign, tests = read[level]
            for member in each(evaluation, source(evaluation)):
                assign(evaluation, member)
                if all(test(evaluation) for test in tests):
                    yield from run(evaluation, level + 1)

        return lambda evaluation: run(evaluation, 0)

    def _loop(
        self, loop: ast.comprehension
    ) -> tuple[Evaluated, Callable[[Evaluation, Any], None], list[Evaluated]]:
        if loop.is_async:
            raise self._refused(loop.target, "nothing may be awaited")
        source = self.compile(loop.iter)
        assign = self._target(loop.target)
        return source, assign, [self.compile(test) for test in loop.ifs]

    def _target(self, target: ast.expr) -> Callable[[Evaluation, Any], None]:
        if isinstance(target, ast.Name):
            slot = self._new_slot(target)

            def assign(evaluation: Evaluation, member: Any) -> None:
                evaluation.values[slot] = member

            return assign
        if not isinstance(target, ast.Tuple) or not all(
            isinstance(name, ast.Name) for name in target.elts
        ):
            raise self._refused(target, "after 'for' stands a name, or names with commas between")
        slots = [self._new_slot(name) for name in target.elts if isinstance(name, ast.Name)]

        def unpack(evaluation: Evaluation, member: Any) -> None:
            members = list(each(evaluation, member))
            if len(members) != len(slots):
                raise ValueError(f"{len(members)} members for {len(slots)} names")
            for slot, part in zip(slots, members, strict=True):
                evaluation.values[slot] = part

        return unpack

    def _new_slot(self, name: ast.Name) -> int:
        if name.id in FUNCTION_NAMES:
            raise self._refused(name, f"{name.id} is the name of a function")
        self._names[name.id] = self.size
        self.size += 1
        return self.size - 1


def _held(evaluation: Evaluation, members: Iterator[Any]) -> Iterator[Any]:
    for member in members:
        evaluation.hold_references(1)
        yield member


def _is_singleton(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool | None)
