"""Routes of the cluster as a whole: one node, everything at once, what changes."""

from fastapi import APIRouter, Response

from redshank_console.api.documented import answers, answers_of_type
from redshank_console.api.event_stream import EventStream
from redshank_console.api.parts import Parts
from redshank_console.services.cluster_views import ClusterNodeView, SnapshotView


class ClusterViewRoutes:
    """Thin: each route names a reading."""

    def __init__(self, parts: Parts) -> None:
        self._overview = parts.overview
        self._feeds = parts.cluster_feeds
        self._gauges = parts.gauges
        self._standing = parts.standing

    def router(self) -> APIRouter:
        """The routes, to stand below /v1/cluster."""
        router = APIRouter()
        stream = answers_of_type("text/event-stream", "snapshot, then node.…, overview")
        add = router.add_api_route
        add("/nodes/{id}", self.node, methods=["GET"], responses=answers(200, ClusterNodeView))
        add("/snapshot", self.snapshot, methods=["GET"], responses=answers(200, SnapshotView))
        add("/events", self.events, methods=["GET"], responses=stream)
        return router

    async def node(self, id: str) -> Response:
        """The node of this id or name."""
        return Response(await self._overview.node(id), media_type="application/json")

    async def snapshot(self) -> Response:
        """The overview with all nodes."""
        return Response(await self._overview.snapshot(), media_type="application/json")

    async def events(self) -> Response:
        """A stream: `snapshot` first, then `node.joined`, `node.changed`, `node.lost`, `node.left`
        with the whole node, `overview` with the whole overview. After a gap `snapshot` again.
        """
        return EventStream(self._feeds.open(), self._gauges, self._standing)
