"""A script answers one request after the other, from a list or from a file."""

import json
import pathlib

import pytest

from redshank_node.providers.choose import make
from redshank_node.providers.provider import (
    Answer,
    Delta,
    ModelFailed,
    ModelRequest,
    ModelSettings,
    Provider,
    Surface,
)
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.messages import AssistantMessage, Message, UserMessage

_SCRIPT = {
    "steps": [
        {
            "deltas": [{"channel": "text", "text": "He"}],
            "answer": {"text": "Hello", "finish": "stop"},
        },
        {"fail": {"detail": "busy", "code": "model_overloaded", "retry": True}},
    ]
}


def _settings(path: pathlib.Path) -> ModelSettings:
    return ModelSettings("main", "scripted", "m", base_url=f"file:{path}")


async def _items(provider: Provider, *messages: Message) -> list[Delta | Answer]:
    request = ModelRequest("ws_1", "", (UserMessage(1, "Go."), *messages), Surface("none", ()))
    return [item async for item in provider.stream(request)]


async def test_a_file_gives_its_steps_in_order_and_says_when_they_are_used_up(
    tmp_path: pathlib.Path,
) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(_SCRIPT))
    provider = make(_settings(path))
    assert await _items(provider) == [Delta("text", "He"), Answer("Hello", "stop")]
    with pytest.raises(ModelFailed, match="busy") as caught:
        await _items(provider)
    assert (caught.value.code, caught.value.retry) == ("model_overloaded", True)
    with pytest.raises(ModelFailed, match="2 steps and was asked for step 3"):
        await _items(provider)


async def test_a_script_by_answers_gives_the_same_step_to_every_node(
    tmp_path: pathlib.Path,
) -> None:
    path = tmp_path / "script.json"
    steps = [{"answer": {"text": text, "finish": "stop"}} for text in ("one", "two")]
    path.write_text(json.dumps({"by": "answers", "steps": steps}))
    for provider in (make(_settings(path)), make(_settings(path))):
        assert await _items(provider) == [Answer("one", "stop")]
        assert await _items(provider) == [Answer("one", "stop")]
        assert await _items(provider, AssistantMessage(2, "one")) == [Answer("two", "stop")]


@pytest.mark.parametrize("text", ["", '{"step": []}', '{"steps": [{"answers": 1}]}'])
def test_a_script_that_cannot_be_read_is_refused_by_its_setting(
    tmp_path: pathlib.Path, text: str
) -> None:
    path = tmp_path / "script.json"
    path.write_text(text)
    with pytest.raises(Misconfigured) as caught:
        make(_settings(path))
    assert caught.value.field == "models.main.base_url"
