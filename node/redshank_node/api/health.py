"""What a node answers about itself: is it well, what has it counted."""

import contextlib
from collections.abc import Awaitable, Callable, Generator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from redshank_shared.domain.errors import Unavailable
from redshank_shared.metrics import CONTENT_TYPE, Metrics, may_scrape
from redshank_shared.stores.database import Database

Health = Callable[[], Awaitable[dict[str, object]]]

_MEND = "send the token of metrics.token_file as `Authorization: Bearer TOKEN`"


class QuietServer(uvicorn.Server):
    """The node handles signals itself: stopping is draining."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def serving(api: Starlette, host: str, port: int) -> QuietServer:
    """A server of this API, not yet started."""
    return QuietServer(
        uvicorn.Config(api, host=host, port=port, log_config=None, access_log=False, lifespan="off")
    )


async def store_checks(
    database: Database, ping_redis: Callable[[], Awaitable[object]]
) -> dict[str, object]:
    """`ok` for each store that answers, else why not."""
    checks: dict[str, object] = {"database": "ok", "redis": "ok"}
    try:
        await database.run(database.ping)
    except Unavailable as error:
        checks["database"] = error.detail
    try:
        await ping_redis()
    except OSError as error:
        checks["redis"] = str(error)
    return checks


def node_api(health: Health, metrics: Metrics, metrics_token: str = "") -> Starlette:
    """`/health` answers 200 while the node takes work and 503 with the cause while not; `/metrics`
    the counters, where there is a token only to who carries it (F32).
    """

    async def show_health(_: Request) -> Response:
        report = await health()
        return JSONResponse(report, status_code=200 if report["status"] == "ok" else 503)

    async def show_metrics(request: Request) -> Response:
        if not may_scrape(request.headers.get("authorization", ""), metrics_token):
            return JSONResponse(
                {"status": 401, "code": "unauthenticated", "detail": _MEND},
                status_code=401,
                headers={"WWW-Authenticate": 'Bearer realm="redshank"'},
                media_type="application/problem+json",
            )
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    return Starlette(routes=[Route("/health", show_health), Route("/metrics", show_metrics)])
