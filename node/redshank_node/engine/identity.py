"""Who a node is, for as long as its process lives."""

import msgspec


class NodeIdentity(msgspec.Struct, frozen=True):
    """`node_id` is one process start's own and never used again; `name` is what people read.

    `slots`: turns at once. `lease_seconds`: how long a workstream is this node's without a renewal.
    """

    node_id: str
    name: str
    slots: int
    lease_seconds: float
