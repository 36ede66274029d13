"""Routes of permissions: rules, dry runs, policies, decisions."""

from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from redshank_console.api.documented import answers
from redshank_console.api.door import principal_of
from redshank_console.api.keyed import json_answer, keyed_request
from redshank_console.api.listing import Listing
from redshank_console.services.permissions import Permissions
from redshank_console.services.rules import ConfirmNeeded
from redshank_shared.stores.permission_rules import RuleFilters
from redshank_shared.wire.permission_requests import (
    AskedMatrix,
    CheckedCall,
    ComparedPolicies,
    NewRule,
    RuntimeAskedMatrix,
    RuntimeCheckedCall,
    TriedPolicy,
)
from redshank_shared.wire.permission_views import (
    CallDecisionView,
    CheckView,
    DifferenceView,
    MatrixView,
    RuleView,
    RuntimeCheckView,
    SurfaceView,
    TrialView,
)
from redshank_shared.wire.problems import PROBLEM_TYPE
from redshank_shared.wire.views import PageView, View

Id = Annotated[str, Query(max_length=100)]


class RuleListing(Listing):
    """Which rules: of one scope, one subject, one origin, or all."""

    scope: Literal["project", "user"] | None = None
    subject: Annotated[str | None, Field(max_length=200)] = None
    origin: Literal["static", "approval"] | None = None


class DecisionListing(Listing):
    """Decisions on which call: its id or the beginning of it."""

    call: Annotated[str, Field(min_length=8, max_length=100)]


class PermissionRoutes:
    """Thin: each route names an order or a reading."""

    def __init__(self, permissions: Permissions) -> None:
        self._rules = permissions.rules
        self._dry_runs = permissions.dry_runs
        self._trials = permissions.trials
        self._surface = permissions.surface
        self._decisions = permissions.decisions

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter()
        rule = answers(200, RuleView)
        page = answers(200, PageView[RuleView])
        decided = answers(200, PageView[CallDecisionView])
        add, rules = router.add_api_route, "/permissions/rules"
        add(rules, self.list, methods=["GET"], responses=page)
        kept = answers(201, RuleView, "Kept")
        add(rules, self.add, methods=["POST"], status_code=201, responses=kept)
        add(rules, self.remove_named, methods=["DELETE"], responses=rule)
        add(f"{rules}/{{id}}", self.remove, methods=["DELETE"], responses=rule)
        add("/permissions/decisions", self.decisions, methods=["GET"], responses=decided)
        for path, route, view in (
            ("/permissions/check", self.check, CheckView),
            ("/permissions/matrix", self.matrix, MatrixView),
            ("/permissions/test", self.test, TrialView),
            ("/permissions/diff", self.difference, DifferenceView),
            ("/runtime/permissions/check", self.runtime_check, RuntimeCheckView),
            ("/runtime/permissions/matrix", self.runtime_matrix, MatrixView),
        ):
            add(path, route, methods=["POST"], responses=answers(200, view))
        surface = answers(200, SurfaceView)
        add("/tool-surface", self.surface, methods=["GET"], responses=surface)
        return router

    async def list(self, query: Annotated[RuleListing, Query()]) -> Response:
        """Stored rules in the order in which they were added."""
        filters = RuleFilters(query.scope or "", query.subject or "", query.origin or "")
        return _json(await self._rules.page(filters, query.limit, query.cursor))

    async def add(self, request: Request, body: NewRule) -> Response:
        """Keep a rule; one of the same scope, subject, pattern is replaced."""
        by = principal_of(request.scope).name
        try:
            answer = await self._rules.add(body, by, await keyed_request(request))
        except ConfirmNeeded as reaches_far:
            return _confirm(reaches_far)
        return json_answer(answer)

    async def remove(self, request: Request, id: str) -> Response:
        """Take a rule away."""
        by = principal_of(request.scope).name
        return json_answer(await self._rules.remove(id, by, await keyed_request(request)))

    async def remove_named(self, request: Request, id: Id) -> Response:
        """Take the rule of this id away."""
        return await self.remove(request, id)

    async def check(self, request: Request, body: CheckedCall) -> Response:
        """What would be decided on a call, with no effect (K-47)."""
        return _json(await self._dry_runs.check(body, principal_of(request.scope).name))

    async def matrix(self, request: Request, body: AskedMatrix) -> Response:
        """What every mode makes of every tool, with no effect (K-48)."""
        return _json(await self._dry_runs.matrix(body, principal_of(request.scope).name))

    async def test(self, body: TriedPolicy) -> Response:
        """Whether a policy decides as its author expects (B-5)."""
        return _json(await self._trials.test(body))

    async def difference(self, request: Request, body: ComparedPolicies) -> Response:
        """What two policies decide apart (B-5)."""
        return _json(await self._trials.difference(body, principal_of(request.scope).name))

    async def runtime_check(self, request: Request, body: RuntimeCheckedCall) -> Response:
        """The check under the names of K-47."""
        asked = CheckedCall(
            tool=body.tool_name,
            input=body.input,
            workstream=body.session_id,
            mode=body.mode_override,
        )
        view = await self._dry_runs.check(asked, principal_of(request.scope).name)
        answer = RuntimeCheckView(
            tool_name=body.tool_name, tool_call_id=body.tool_call_id, **view.model_dump()
        )
        return _json(answer)

    async def runtime_matrix(self, request: Request, body: RuntimeAskedMatrix) -> Response:
        """The matrix under the names of K-47."""
        asked = AskedMatrix(workstream=body.session_id, mode=body.mode_override)
        return _json(await self._dry_runs.matrix(asked, principal_of(request.scope).name))

    async def surface(self) -> Response:
        """Every tool that a live node has."""
        return _json(await self._surface.view())

    async def decisions(self, query: Annotated[DecisionListing, Query()]) -> Response:
        """The decisions on one call, wherever it was made (B-6)."""
        return _json(await self._decisions.on_call(query.call, query.limit, query.cursor))


def _json(view: View) -> Response:
    return Response(view.model_dump_json(), media_type="application/json")


def _confirm(reaches_far: ConfirmNeeded) -> Response:
    """A problem that lists the cells which the rule would change (O28)."""
    body = {
        "status": 409,
        "code": reaches_far.code,
        "detail": reaches_far.detail,
        "field": reaches_far.field,
        "changes": [change.model_dump() for change in reaches_far.changes],
    }
    return Response(msgspec.json.encode(body), 409, media_type=PROBLEM_TYPE)
