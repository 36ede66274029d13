"""Answers from a script, for tests."""

import pathlib
from collections.abc import AsyncIterator, Sequence
from typing import Literal

import msgspec

from redshank_node.providers.provider import (
    Answer,
    Delta,
    ModelFailed,
    ModelRequest,
    ModelSettings,
)
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.messages import AssistantMessage

Step = Answer | ModelFailed | Sequence[Delta | Answer | ModelFailed]


class Scripted:
    """Gives one step of its script for each request, and keeps the requests.

    `by` "order" takes the steps one after the other; "answers" takes the step whose number is that
    of the answers in the conversation, so that any node of a cluster gives the same one.
    """

    def __init__(
        self,
        settings: ModelSettings,
        steps: Sequence[Step],
        by: Literal["order", "answers"] = "order",
    ) -> None:
        self.settings = settings
        self.requests: list[ModelRequest] = []
        self._steps = list(steps)
        self._by = by

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | Answer]:
        """The next step's deltas and answer; raises the ModelFailed that stands in the script."""
        self.requests.append(request)
        step = self._step(request)
        for item in step if isinstance(step, Sequence) else [step]:
            if isinstance(item, ModelFailed):
                raise item
            yield item

    async def close(self) -> None:
        """Nothing is held."""

    def _step(self, request: ModelRequest) -> Step:
        place = len(self.requests) - 1
        if self._by == "answers":
            place = sum(isinstance(message, AssistantMessage) for message in request.messages)
        if place < len(self._steps):
            return self._steps[place]
        return ModelFailed(
            f"The script of {self.settings.name} has {len(self._steps)} steps and was asked for "
            f"step {place + 1}; add steps to it.",
            code="model_error",
            retry=False,
        )


class _Failure(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    detail: str
    code: str = "model_error"
    retry: bool = False
    delay_seconds: float | None = None


class _WrittenStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    deltas: tuple[Delta, ...] = ()
    answer: Answer | None = None
    fail: _Failure | None = None


class _Script(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    steps: tuple[_WrittenStep, ...]
    by: Literal["order", "answers"] = "order"


def read_script(settings: ModelSettings) -> Scripted:
    """The provider whose script is the JSON file that `base_url` names as `file:PATH`.

    `{"by": "order"|"answers", "steps": [{"deltas": [...], "answer": {...}} or {"fail": {...}}]}`,
    with the fields of Delta, Answer and ModelFailed. Raises Misconfigured.
    """
    field = f"models.{settings.name}.base_url"
    path = settings.base_url.removeprefix("file:")
    if path == settings.base_url or not path:
        raise Misconfigured(
            f"{field} must be file:PATH of a JSON script for the scripted provider.", field=field
        )
    try:
        script = msgspec.json.decode(pathlib.Path(path).read_bytes(), type=_Script)
    except (OSError, msgspec.MsgspecError) as error:
        raise Misconfigured(
            f"{field} names no readable script: {error}. Mend that file.", field=field
        ) from error
    return Scripted(settings, [_step(written) for written in script.steps], script.by)


def _step(written: _WrittenStep) -> Step:
    end: list[Answer | ModelFailed] = []
    if written.fail is not None:
        failure = written.fail
        end = [
            ModelFailed(
                failure.detail,
                code=failure.code,
                retry=failure.retry,
                delay_seconds=failure.delay_seconds,
            )
        ]
    elif written.answer is not None:
        end = [written.answer]
    return [*written.deltas, *end]
