"""The route by which a process that speaks only HTTP announces itself."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Response
from pydantic import BaseModel, ConfigDict, Field

from redshank_console.api.documented import answers
from redshank_console.api.parts import Parts
from redshank_console.services.announcing import Announced

PATH = "/v1/cluster/services"


class ServiceAnnouncement(BaseModel):
    """A process that lives; what is not named here is refused (F69)."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    service_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,199}$")]
    kind: Literal["gateway"]
    address: Annotated[str, Field(max_length=500)]
    version: Annotated[str, Field(max_length=64)]
    report: dict[str, Any] = {}


class AnnouncedRoutes:
    """The door leaves this path open: a service token is none of a person's."""

    def __init__(self, parts: Parts) -> None:
        self._announcing = parts.announcing

    def router(self) -> APIRouter:
        """The route, to stand at the root."""
        router = APIRouter()
        documented = answers(204, None, "Written down")
        router.add_api_route(
            PATH, self.announce, methods=["POST"], status_code=204, responses=documented
        )
        return router

    async def announce(
        self, body: ServiceAnnouncement, authorization: Annotated[str, Header()] = ""
    ) -> Response:
        """A gateway lives; say it again every 5 s. For admins' tokens, for service tokens of the
        audience `redshank-console`.
        """
        said = Announced(body.service_id, body.kind, body.address, body.version, body.report)
        await self._announcing.announce(authorization, said)
        return Response(status_code=204)
