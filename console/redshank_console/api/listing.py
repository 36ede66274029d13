"""Names the query parameters of lists."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Listing(BaseModel):
    """Where a page begins and how long it is; what is not named here is refused (F69)."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: Annotated[str | None, Field(max_length=1000)] = None


class WorkstreamListing(Listing):
    """Which workstreams. `node`: the name of the node at work; `q`: part of a name or title."""

    state: str | None = None
    owner: str | None = None
    node: str | None = None
    label: str | None = None
    q: str | None = None
    waiting_for: str | None = None
