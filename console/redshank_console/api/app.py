"""Builds the HTTP application from its parts."""

from fastapi import FastAPI
from starlette.types import ASGIApp

from redshank_console.api import problems
from redshank_console.api.accounts import AccountRoutes
from redshank_console.api.announced import AnnouncedRoutes
from redshank_console.api.approvals import ApprovalRoutes
from redshank_console.api.assets import AssetRoutes
from redshank_console.api.audited import Audited
from redshank_console.api.body_limit import BodyLimit
from redshank_console.api.cluster import ClusterRoutes
from redshank_console.api.cluster_view import ClusterViewRoutes
from redshank_console.api.door import Door
from redshank_console.api.events import EventRoutes
from redshank_console.api.hooks import HookRoutes
from redshank_console.api.ledger import LedgerRoutes
from redshank_console.api.mcp import McpRoutes
from redshank_console.api.mcp_login import McpLoginRoutes
from redshank_console.api.measure import Measure
from redshank_console.api.page import PageRoutes
from redshank_console.api.parts import Parts
from redshank_console.api.permissions import PermissionRoutes
from redshank_console.api.previews import PreviewRoutes
from redshank_console.api.profiles import ProfileRoutes
from redshank_console.api.questions import QuestionRoutes
from redshank_console.api.redacted import Redacted
from redshank_console.api.routing import Routing, places
from redshank_console.api.schedules import ScheduleRoutes
from redshank_console.api.secrets import SecretRoutes
from redshank_console.api.sign_in import SignInRoutes
from redshank_console.api.skills import SkillRoutes
from redshank_console.api.tool_limits import ToolLimitRoutes
from redshank_console.api.watch_hooks import WatchHookRoutes
from redshank_console.api.workstreams import WorkstreamRoutes


def application(parts: Parts) -> ASGIApp:
    """The API, the streams, the page, behind the door."""
    app = api(parts)
    audited = Audited(BodyLimit(app), parts.admin_audit)
    door = Door(audited, Routing(places(app)), parts.sign_in, parts.door_rules)
    return Measure(Redacted(door, parts.redactor.of_output), parts.gauges)


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
    approvals, questions = ApprovalRoutes(parts), QuestionRoutes(parts)
    for prefix in ("/v1/workstreams", "/v1/sessions"):
        of_each = (WorkstreamRoutes(parts), EventRoutes(parts), PreviewRoutes(parts))
        for routes in (*of_each, approvals, questions):
            app.include_router(routes.router(prefix))
    app.include_router(approvals.inbox_router(), prefix="/v1", tags=["approvals"])
    app.include_router(questions.inbox_router(), prefix="/v1", tags=["questions"])
    for of_runs in (approvals, questions):
        app.include_router(of_runs.run_router(), prefix="/v1")
    app.include_router(ProfileRoutes().router(), prefix="/v1", tags=["profiles"])
    app.include_router(ScheduleRoutes(parts).router(), prefix="/v1", tags=["schedules"])
    app.include_router(WatchHookRoutes(parts).router(), prefix="/v1", tags=["schedules"])
    app.include_router(SecretRoutes(parts).router(), prefix="/v1", tags=["secrets"])
    app.include_router(LedgerRoutes(parts).router(), prefix="/v1", tags=["ledger"])
    app.include_router(SignInRoutes(parts).router(), prefix="/v1", tags=["sign-in"])
    app.include_router(AccountRoutes(parts).router(), prefix="/v1", tags=["access"])
    permissions = PermissionRoutes(parts.permissions).router()
    app.include_router(permissions, prefix="/v1", tags=["permissions"])
    skills = SkillRoutes(parts.skills).router()
    app.include_router(skills, prefix="/v1", tags=["skills"])
    app.include_router(McpRoutes(parts.mcp).router(), prefix="/v1", tags=["mcp"])
    app.include_router(McpLoginRoutes(parts).router(), prefix="/v1", tags=["mcp"])
    limits = ToolLimitRoutes(parts.tool_limits).router()
    app.include_router(limits, prefix="/v1", tags=["limits"])
    app.include_router(AssetRoutes(parts.assets).router(), prefix="/v1", tags=["assets"])
    hooks = HookRoutes(parts.hook_dead_letters).router()
    app.include_router(hooks, prefix="/v1", tags=["hooks"])
    app.include_router(ClusterRoutes(parts).router(), tags=["cluster"])
    cluster_view = ClusterViewRoutes(parts).router()
    app.include_router(cluster_view, prefix="/v1/cluster", tags=["cluster"])
    app.include_router(AnnouncedRoutes(parts).router(), tags=["cluster"])
    app.include_router(PageRoutes(parts.page_folder).router())
    return app
