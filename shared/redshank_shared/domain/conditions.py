"""Whether what a watch's poll gave makes the watch fire."""

import json
from typing import Any, Self

from redshank_shared.domain.condition_budget import Evaluation
from redshank_shared.domain.condition_syntax import VARIABLES, Evaluated, compile_expression
from redshank_shared.domain.errors import RedshankError

LONGEST_OUTPUT = 64 * 1024
_LONGEST_REASON = 300


class ConditionFailed(RedshankError):
    """The condition has no answer for this output: the watch does not fire, shows the detail, polls
    on (T-51).
    """

    code = "condition_failed"


class Condition:
    """A stop_on expression (T-51), read once."""

    def __init__(self, text: str | None, evaluated: Evaluated, size: int) -> None:
        self.text = text
        self._evaluated = evaluated
        self._size = size
        self._reads_data = text is not None and "data" in text

    @classmethod
    def parse(cls, text: str | None) -> Self:
        """The condition that this text says; without a text, that the output changed. Raises
        Invalid on `stop_on`, with the column (from 1), for what is no expression or not allowed in
        one (F36).
        """
        evaluated, size = compile_expression("changed" if text is None else text)
        return cls(text, evaluated, size)

    def met(self, output: str, exit_code: int, prev_output: str | None) -> bool:
        """Whether the watch fires. The outputs count up to 65,536 characters (T-54); `prev_output`
        is None at the first poll, where nothing has changed (O26). Raises ConditionFailed where
        the expression has no value for this output, Invalid where it would take too long, too much
        memory or what no condition may do.
        """
        output = output[:LONGEST_OUTPUT]
        before = None if prev_output is None else prev_output[:LONGEST_OUTPUT]
        changed = before is not None and before != output
        data = _parsed(output) if self._reads_data else None
        values = [output, data, exit_code, before, changed]
        values += [None] * (self._size - len(VARIABLES))
        try:
            return bool(self._evaluated(Evaluation(values)))
        except KeyError as error:
            raise self._failed(f"there is no key {error}", data) from error
        except (
            TypeError,
            ValueError,
            IndexError,
            AttributeError,
            ArithmeticError,
            RecursionError,
        ) as error:
            raise self._failed(str(error), data) from error

    def _failed(self, reason: str, data: Any) -> ConditionFailed:
        unread = self._reads_data and data is None
        hint = "; data is None: the output is no JSON, or null" if unread else ""
        return ConditionFailed(
            f"stop_on has no answer for this output: {reason[:_LONGEST_REASON]}{hint}",
            field="stop_on",
        )


def _parsed(output: str) -> Any:
    """The output as JSON, or None where it is none."""
    try:
        return json.loads(output)
    except (ValueError, RecursionError):
        return None
