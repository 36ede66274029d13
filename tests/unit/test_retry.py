"""A model is asked again as often and as patiently as the policy says."""

import pytest

from redshank_node.providers.provider import (
    Answer,
    Delta,
    ModelFailed,
    ModelRequest,
    ModelSettings,
    Surface,
)
from redshank_node.providers.retry import RetryPolicy, ask, delay
from redshank_node.providers.scripted import Scripted, Step
from redshank_shared.domain.messages import UserMessage

_POLICY = RetryPolicy(attempts=4, first_seconds=1.0, longest_seconds=3.0)
_REQUEST = ModelRequest("ws_1", "", (UserMessage(1, "Go."),), Surface("none", ()))


def _failure(*, retry: bool = True, delay_seconds: float | None = None) -> ModelFailed:
    return ModelFailed("it broke", code="model_error", retry=retry, delay_seconds=delay_seconds)


@pytest.mark.parametrize(
    ("attempt", "jitter", "seconds"),
    [(1, 0.0, 1.0), (2, 0.0, 2.0), (3, 0.0, 3.0), (1, 1.0, 0.5), (4, 0.0, None)],
)
def test_the_wait_doubles_up_to_its_bound_and_ends(
    attempt: int, jitter: float, seconds: float | None
) -> None:
    assert delay(_POLICY, attempt, _failure(), jitter) == seconds


@pytest.mark.parametrize(("asked", "seconds"), [(7.0, 7.0), (0.0, 0.0), (3600.0, 60.0)])
def test_a_wait_that_the_server_asks_for_is_kept_up_to_a_minute(
    asked: float, seconds: float
) -> None:
    assert delay(_POLICY, 1, _failure(delay_seconds=asked), 0.0) == seconds


def test_a_failure_that_no_retry_mends_is_given_up_at_once() -> None:
    assert delay(_POLICY, 1, _failure(retry=False, delay_seconds=1.0), 0.0) is None


class _Asking:
    """Runs `ask` over a script and notes what its callers are told, in order."""

    def __init__(self, *steps: Step) -> None:
        self.provider = Scripted(ModelSettings("main", "scripted", "m"), steps)
        self.told: list[str] = []

    async def run(self) -> Answer:
        return await ask(
            self.provider,
            _REQUEST,
            policy=_POLICY,
            on_delta=lambda delta: self.told.append(delta.text),
            on_retry=lambda failure, wait: self.told.append(f"{failure.detail}, wait {wait}"),
            sleep=self._sleep,
            jitter=lambda: 0.0,
        )

    async def _sleep(self, seconds: float) -> None:
        self.told.append(f"slept {seconds}")


@pytest.mark.fault("F46")
async def test_a_failed_attempt_is_told_before_the_next_one_streams() -> None:
    asking = _Asking(
        [Delta("text", "Ye"), _failure()], [Delta("text", "Yes"), Answer("Yes", "stop")]
    )
    assert (await asking.run()).text == "Yes"
    assert asking.told == ["Ye", "it broke, wait 1.0", "slept 1.0", "Yes"]


async def test_the_last_failure_is_raised_when_the_attempts_are_used_up() -> None:
    asking = _Asking(*[_failure()] * 4)
    with pytest.raises(ModelFailed, match="it broke"):
        await asking.run()
    assert len(asking.provider.requests) == 4


async def test_a_stream_without_an_answer_is_tried_again() -> None:
    asking = _Asking([Delta("text", "Ye")], Answer("Yes", "stop"))
    assert (await asking.run()).text == "Yes"
