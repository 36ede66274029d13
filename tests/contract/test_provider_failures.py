"""What goes wrong at a model server is told with a code, whether to retry, the mend."""

import asyncio
import json
import logging

import pytest

from redshank_node.providers.choose import make
from redshank_shared.domain.errors import Misconfigured
from tests.contract.provider_asking import KEY, failed, question, settings
from tests.fakes.model_server import Reply, call_delta, chunk, events, model_server

_JSON = "application/json"


def _said(status: int, body: object, **headers: str) -> Reply:
    return Reply([json.dumps(body).encode()], status, headers, _JSON)


def _error(message: str, **more: object) -> dict[str, object]:
    return {"error": {"message": message, **more}}


@pytest.mark.fault("F12")
@pytest.mark.parametrize(
    ("reply", "code", "retry", "mend"),
    [
        (_said(401, _error(f"bad key {KEY}")), "model_refused_key", False, "api_key_slot"),
        (_said(403, _error("no access")), "model_refused_key", False, "api_key_slot"),
        (_said(404, _error("model 'm' not found")), "model_not_found", False, "models.main.model"),
        (
            _said(400, _error("exceeds the available context size", type="exceed_context_size")),
            "context_too_long",
            False,
            "Compact",
        ),
        (
            _said(400, _error("m's maximum context length is 8 tokens", type="BadRequestError")),
            "context_too_long",
            False,
            "Compact",
        ),
        (_said(400, _error("tools[0] is wrong")), "model_error", False, "tools[0] is wrong"),
        (_said(400, {"error": "plain words"}), "model_error", False, "plain words"),
        (_said(503, _error("Loading model")), "model_overloaded", True, "still loading"),
        (
            _said(429, _error("no money", code="insufficient_quota")),
            "model_rate_limited",
            False,
            "quota",
        ),
        (
            Reply([b"<html><style>p{}</style><h1>Bad gateway</h1></html>"], 500, {}, "text/html"),
            "model_error",
            True,
            "answered 500: Bad gateway",
        ),
        (Reply([], 302, {"location": "https://x.example/v1?k=1"}), "model_error", False, "x.exa"),
    ],
)
async def test_a_refusal_names_its_code_and_mend(
    reply: Reply, code: str, retry: bool, mend: str
) -> None:
    async with model_server(reply) as server:
        failure = await failed(server, "openai")
    assert (failure.code, failure.retry) == (code, retry)
    assert mend in failure.detail
    assert f"Model m at {server.url}/v1" in failure.detail


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250"}, 0.25),
        (
            {
                "date": "Mon, 05 Oct 2026 10:00:00 GMT",
                "retry-after": "Mon, 05 Oct 2026 10:00:30 GMT",
            },
            30.0,
        ),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_a_rate_limit_carries_the_wait_that_the_server_asks_for(
    wire: str, headers: dict[str, str], seconds: float | None
) -> None:
    async with model_server(_said(429, _error("slow down"), **headers)) as server:
        failure = await failed(server, wire)
    assert (failure.code, failure.retry) == ("model_rate_limited", True)
    assert failure.delay_seconds == seconds


async def test_an_address_where_nothing_listens_is_named_with_its_setting() -> None:
    async with model_server(Reply()) as server:
        url = server.url
    failure = await failed(url, "openai")
    assert (failure.code, failure.retry) == ("model_unreachable", True)
    assert f"Start the server at {url}/v1" in failure.detail
    assert "models.main.base_url" in failure.detail


@pytest.mark.fault("F46")
@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (Reply(events(chunk({"content": "Ye"})), end="silent"), "model_stream_cut"),
        (Reply(end="silent"), "model_stream_cut"),
        (Reply(end="mute"), "model_unreachable"),
    ],
    ids=["in the answer", "before the answer", "before the status"],
)
async def test_silence_ends_after_the_configured_time(reply: Reply, code: str) -> None:
    async with model_server(reply) as server:
        failure = await failed(server, "openai", timeout_seconds=1.0)
    assert (failure.code, failure.retry) == (code, True)
    assert "models.main.timeout_seconds" in failure.detail


@pytest.mark.fault("F46")
@pytest.mark.parametrize("end", ["close", "cut"])
async def test_a_stream_without_its_end_is_no_answer(end: str) -> None:
    parts = events(chunk({"content": "I will"}), chunk(call_delta('{"path":"a"}', index=0)))
    async with model_server(Reply(parts, end=end)) as server:  # type: ignore[arg-type]
        failure = await failed(server, "openai")
    assert (failure.code, failure.retry) == ("model_stream_cut", True)


@pytest.mark.fault("F46")
@pytest.mark.parametrize(
    ("reply", "code", "retry", "says"),
    [
        (_said(200, _error("upstream gone", code=502)), "model_error", True, "upstream gone"),
        (_said(200, {"detail": "Not Found"}), "model_error", True, "Not Found"),
        (
            Reply([b"<!doctype html><title>Hello</title>"], content_type="text/html"),
            "model_error",
            False,
            "web page: Hello",
        ),
        (Reply([b'error: {"code":500,"message":"boom"}\n\n']), "model_error", True, "boom"),
        (Reply(events(_error("bad", code=400))), "model_error", False, "bad"),
        (Reply(events({"object": "error", "message": "boom"})), "model_error", True, "boom"),
        (Reply(events({"error": "boom"})), "model_error", True, "boom"),
        (Reply(events(chunk({}, "error"))), "model_error", True, "finished with an error"),
        (Reply(events('{"choices": [')), "model_error", True, "not JSON"),
    ],
)
async def test_an_error_under_status_200_is_a_failure(
    reply: Reply, code: str, retry: bool, says: str
) -> None:
    async with model_server(reply) as server:
        failure = await failed(server, "openai")
    assert (failure.code, failure.retry) == (code, retry)
    assert says in failure.detail


@pytest.mark.fault("F46")
@pytest.mark.parametrize(
    ("parts", "retry"),
    [
        (events(chunk({"content": ""}), chunk({}, "stop"), "[DONE]"), True),
        (events(chunk({"content": "\n\n"}), chunk({}, "stop"), "[DONE]"), True),
        (events(chunk({"reasoning": "Hm."}), chunk({}, "stop"), "[DONE]"), True),
        (events(chunk({"reasoning": "Hm."}), chunk({}, "length"), "[DONE]"), False),
        (events("[DONE]"), True),
    ],
)
async def test_an_answer_that_holds_nothing_is_a_failure(parts: list[bytes], retry: bool) -> None:
    async with model_server(Reply(parts)) as server:
        failure = await failed(server, "openai")
    assert (failure.code, failure.retry) == ("model_empty", retry)


async def test_an_endless_event_is_given_up_at_the_limit() -> None:
    mebibyte = b"x" * (1 << 20)
    async with model_server(Reply([b"data: ", *[mebibyte] * 33])) as server:
        failure = await failed(server, "openai")
    assert (failure.code, failure.retry) == ("model_error", False)
    assert "32 MiB" in failure.detail


async def test_leaving_the_stream_ends_the_request_at_once() -> None:
    parts = events(chunk({"content": "Ye"}))
    async with model_server(Reply(parts, end="silent")) as server:
        provider = make(settings(server, "openai"))
        stream = provider.stream(question())
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]
        async with asyncio.timeout(30):
            await server.left.wait()
        await provider.close()


@pytest.mark.fault("F12")
@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_the_key_is_sent_and_stands_in_no_log_and_no_error(
    wire: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with model_server(_said(401, _error(f"who is {KEY}?"))) as server:
        failure = await failed(server, wire)
        headers = server.requests[0].headers
    assert KEY in headers["x-api-key" if wire == "anthropic" else "authorization"]
    assert KEY not in repr(failure) + failure.detail + caplog.text


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"base_url": "localhost:8000/v1"}, "models.main.base_url"),
        ({"base_url": "http://"}, "models.main.base_url"),
        ({"model": ""}, "models.main.model"),
        ({"api_key": f"“{KEY}”"}, "models.main.api_key_slot"),
    ],
)
def test_settings_that_cannot_work_are_refused_by_their_name(
    changes: dict[str, str], field: str
) -> None:
    with pytest.raises(Misconfigured) as caught:
        make(settings("http://127.0.0.1:1", "openai", **changes))
    assert caught.value.field == field
    assert field.rpartition(".")[0] in caught.value.detail
    assert KEY not in caught.value.detail
