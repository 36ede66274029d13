"""Facts about tools that a search brought into a workstream's sight."""

from redshank_shared.domain.fact import Fact


class ToolsFound(Fact, frozen=True, tag="tools.found"):
    """From here on the model is shown these tools, on whichever node, whenever they are there
    (T-62). `by_provider`: the model's provider searched by itself, its blocks in the answer show
    them to the model.
    """

    names: tuple[str, ...]
    call_id: str = ""
    by_provider: bool = False
