"""Skills as HTTP clients get them. Times are RFC 3339 UTC."""

from typing import Literal

from redshank_shared.wire.views import View


class SkillArgumentView(View):
    """What a skill asks for when it is used; values are strings."""

    name: str
    description: str
    required: bool


class SkillView(View):
    """A skill. `origin` mcp: a prompt of `server`, which can be changed there alone. `overruled`: a
    manual skill has this name, which is used in its place (T-77).
    """

    name: str
    origin: Literal["manual", "mcp"]
    server: str
    description: str
    body: str
    arguments: list[SkillArgumentView]
    enabled: bool
    read_only: bool
    overruled: bool
    created_at: str
    updated_at: str
