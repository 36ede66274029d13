"""Answers over HTTP: notifications for nodes, health, counters."""

import hashlib
from functools import partial

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from redshank_gateway.api.body import limited_body, request_of
from redshank_gateway.api.parts import Parts
from redshank_gateway.api.problems import HANDLERS
from redshank_gateway.delivery.recipients import Target
from redshank_gateway.rendering.written import Notification, written
from redshank_shared.domain.errors import Invalid
from redshank_shared.metrics import CONTENT_TYPE
from redshank_shared.wire.notify import LONGEST_NAME, NotifyAnswer, NotifyRequest
from redshank_shared.wire.service_token import GATEWAY_AUDIENCE, bearer, verify

_JSON = "application/json"


def gateway_api(parts: Parts) -> Starlette:
    """`POST /v1/api/notify` (T-43), `/health`, `/metrics`.

    Health is 200 while the gateway answers; what is missing stands in it.
    """

    async def notify(request: Request) -> Response:
        verify(
            bearer(request.headers.get("authorization")),
            parts.secret,
            GATEWAY_AUDIENCE,
            parts.now(),
        )
        key = _key(request) or parts.new_key()
        asked = request_of(await limited_body(request))
        told = Notification(asked.message, asked.title or "", asked.workstream or "")
        digest = hashlib.sha256(msgspec.json.encode(asked)).hexdigest()
        targets = _targets(parts, asked)
        results = await parts.deliveries.deliver(key, digest, targets, partial(written, told))
        return Response(msgspec.json.encode(NotifyAnswer(results)), media_type=_JSON)

    async def show_health(_: Request) -> Response:
        return Response(msgspec.json.encode(parts.health()), media_type=_JSON)

    async def show_metrics(_: Request) -> Response:
        return Response(parts.counts.text(), media_type=CONTENT_TYPE)

    return Starlette(
        routes=[
            Route("/v1/api/notify", notify, methods=["POST"]),
            Route("/health", show_health),
            Route("/metrics", show_metrics),
        ],
        exception_handlers=HANDLERS,
    )


def _key(request: Request) -> str:
    key = request.headers.get("idempotency-key", "")
    if len(key) > LONGEST_NAME:
        raise Invalid(
            f"Idempotency-Key has more than {LONGEST_NAME} characters", field="Idempotency-Key"
        )
    return key


def _targets(parts: Parts, asked: NotifyRequest) -> tuple[Target, ...]:
    if asked.username is not None:
        return parts.recipients.of(asked.username)
    return (Target(asked.channel_type or "", asked.channel_id or ""),)
