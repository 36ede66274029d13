"""What a process logs: one object a line, no secret in it."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from redshank_shared.logs import configure
from redshank_shared.vault.redaction import Redactor


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def logged(form: str, secrets: tuple[str, ...] = ()) -> str:
    stream = io.StringIO()
    redact = Redactor(secrets).of_log
    configure("info", form, redact=redact, stream=stream)  # type: ignore[arg-type]  # parametrised
    logger = logging.getLogger("redshank.test")
    logger.debug("not told")
    logger.info("hello %s", "world", extra={"workstream": "ws_1", "color_message": "x"})
    try:
        raise ValueError("the key sk-canary-1 was refused")
    except ValueError:
        logger.exception("call failed with sk-canary-1")
    return stream.getvalue()


def test_json_is_one_object_a_line_with_time_level_and_logger() -> None:
    first, second = (json.loads(line) for line in logged("json").splitlines())
    assert first["event"] == "hello world"
    assert (first["level"], first["logger"], first["workstream"]) == (
        "info",
        "redshank.test",
        "ws_1",
    )
    assert first["at"].endswith("Z")
    assert "color_message" not in first
    assert second["exception"].startswith("Traceback")


@pytest.mark.fault("F-12")
@pytest.mark.parametrize("form", ["json", "console"])
def test_a_secret_is_masked_in_messages_and_tracebacks(form: str) -> None:
    text = logged(form, ("sk-canary-1",))
    assert "canary" not in text
    assert "the key *** was refused" in text


@pytest.mark.fault("F-12")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abc.def-ghi_jkl", "Authorization: Bearer ***"),
        ("to postgresql://me:pw@h/db failed", "to postgresql://me:***@h/db failed"),
        ("unix://:pw@/data/valkey.sock?db=0", "unix://:***@/data/valkey.sock?db=0"),
        ("a bearer of news", "a bearer of news"),
        ("http://127.0.0.1:8090/v1@x", "http://127.0.0.1:8090/v1@x"),
    ],
)
def test_tokens_and_passwords_are_masked_by_their_shape(text: str, shown: str) -> None:
    assert Redactor().of_log(text) == shown
