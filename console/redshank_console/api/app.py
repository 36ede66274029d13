"""Builds the HTTP application from its parts."""

from fastapi import FastAPI
from starlette.types import ASGIApp

from redshank_console.api import problems
from redshank_console.api.announced import AnnouncedRoutes
from redshank_console.api.approvals import ApprovalRoutes
from redshank_console.api.body_limit import BodyLimit
from redshank_console.api.cluster import ClusterRoutes
from redshank_console.api.cluster_view import ClusterViewRoutes
from redshank_console.api.door import Door
from redshank_console.api.events import EventRoutes
from redshank_console.api.measure import Measure
from redshank_console.api.page import PageRoutes
from redshank_console.api.parts import Parts
from redshank_console.api.schedules import ScheduleRoutes
from redshank_console.api.sign_in import SignInRoutes
from redshank_console.api.workstreams import WorkstreamRoutes


def application(parts: Parts) -> ASGIApp:
    """The API, the streams, the page, behind the door."""
    app = api(parts)
    return Measure(Door(BodyLimit(app), parts.sign_in, parts.door_rules), parts.gauges)


def api(parts: Parts) -> FastAPI:
    """The routes alone."""
    app = FastAPI(
        title="Redshank",
        version=parts.version,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    problems.install(app)
    approvals = ApprovalRoutes(parts)
    for prefix in ("/v1/workstreams", "/v1/sessions"):
        for routes in (WorkstreamRoutes(parts), EventRoutes(parts), approvals):
            app.include_router(routes.router(prefix))
    app.include_router(approvals.inbox_router(), prefix="/v1", tags=["approvals"])
    app.include_router(ScheduleRoutes(parts).router(), prefix="/v1", tags=["schedules"])
    app.include_router(SignInRoutes(parts).router(), prefix="/v1", tags=["sign-in"])
    app.include_router(ClusterRoutes(parts).router(), tags=["cluster"])
    cluster_view = ClusterViewRoutes(parts).router()
    app.include_router(cluster_view, prefix="/v1/cluster", tags=["cluster"])
    app.include_router(AnnouncedRoutes(parts).router(), tags=["cluster"])
    app.include_router(PageRoutes(parts.page_folder).router())
    return app
