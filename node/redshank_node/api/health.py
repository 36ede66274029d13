"""What a node answers about itself: is it well, what has it counted."""

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from redshank_shared.metrics import CONTENT_TYPE, Metrics

Health = Callable[[], Awaitable[dict[str, object]]]


def node_api(health: Health, metrics: Metrics) -> Starlette:
    """`/health` answers 200 while the node takes work and 503 with the cause while not; `/metrics`
    the counters.
    """

    async def show_health(_: Request) -> Response:
        report = await health()
        return JSONResponse(report, status_code=200 if report["status"] == "ok" else 503)

    async def show_metrics(_: Request) -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    return Starlette(routes=[Route("/health", show_health), Route("/metrics", show_metrics)])
