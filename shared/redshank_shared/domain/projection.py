"""What lists, counts need of a workstream, written with every append."""

import msgspec

from redshank_shared.domain.events import Mode, RestState, WaitFor


class Projection(msgspec.Struct, frozen=True):
    """The columns of a workstream's row that derive from its log. `pending`: a node has something
    to do.
    """

    name: str
    owner: str
    state: RestState
    pending: bool
    title: str = ""
    profile: str = "default"
    persona: str = ""
    mode: Mode = "default"
    model: str = ""
    labels: tuple[str, ...] = ()
    parent: str = ""
    directed_to: str = ""
    waiting_for: tuple[WaitFor, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    detail: str = ""
    pending_approvals: int = 0
