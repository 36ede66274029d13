"""Routes of the cluster, of this process: figures, nodes, health, metrics."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from redshank_console.api.documented import answers, answers_of_type
from redshank_console.api.listing import Listing
from redshank_console.api.parts import Parts
from redshank_console.services.cluster_views import ClusterNodeView
from redshank_console.services.overview import MOST_NODES
from redshank_shared.metrics import CONTENT_TYPE
from redshank_shared.wire.views import HealthView, OverviewView, PageView


class NodeListing(Listing):
    """A cluster's nodes fit on one page."""

    limit: Annotated[int, Field(ge=1, le=MOST_NODES)] = MOST_NODES


class ClusterRoutes:
    """Thin: each route names a reading."""

    def __init__(self, parts: Parts) -> None:
        self._overview = parts.overview
        self._health = parts.health
        self._gauges = parts.gauges

    def router(self) -> APIRouter:
        """The routes, to stand at the root."""
        router = APIRouter()
        health = answers(200, HealthView)
        health[503] = {"model": HealthView, "description": "What is wrong"}
        metrics = answers_of_type("text/plain", "Prometheus")
        overview, nodes = answers(200, OverviewView), answers(200, PageView[ClusterNodeView])
        add = router.add_api_route
        add("/v1/cluster/overview", self.overview, methods=["GET"], responses=overview)
        add("/v1/cluster/nodes", self.nodes, methods=["GET"], responses=nodes)
        add("/health", self.health, methods=["GET"], responses=health)
        add("/metrics", self.metrics, methods=["GET"], responses=metrics)
        return router

    async def overview(self) -> Response:
        """The cluster in figures, at most a second old."""
        figures = await self._overview.figures()
        return Response(figures.model_dump_json(), media_type="application/json")

    async def nodes(self, query: Annotated[NodeListing, Query()]) -> Response:
        """Every node that was heard of within the hour, by name."""
        page = await self._overview.nodes_json(query.limit, query.cursor)
        return Response(page, media_type="application/json")

    async def health(self) -> Response:
        """Whether this console can do its work; 503 with what is wrong."""
        health = await self._health.check()
        status = 200 if health.status == "ok" else 503
        return Response(health.model_dump_json(), status, media_type="application/json")

    async def metrics(self) -> Response:
        """What this console counts; the cluster's figures too while the database answers."""
        return Response(await self._gauges.text(), media_type=CONTENT_TYPE)
