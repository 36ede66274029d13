"""What ties the end of a call to its record in the ledger of outside effects."""

from typing import Literal

import msgspec

# What may have befallen a record since it was signed (B-8).
Wrong = Literal["changed", "missing", "reordered", "foreign"]


class Seal(msgspec.Struct, frozen=True):
    """The place of a record in its workstream's chain. `record` is the JSON text that was signed,
    `hash` the hex SHA-256 of it, `signature` in base64 (K-7).
    """

    position: int
    hash: str
    key_id: str
    signature: str
    record: str


class ChainEnd(msgspec.Struct, frozen=True):
    """Where a workstream's chain ends: the last record's position, its hash; 0 before the first."""

    position: int = 0
    hash: str = ""


def chained(seal: Seal | None) -> dict[str, object]:
    """The field of a workstream that a call's end with this seal changes."""
    return {} if seal is None else {"ledger": ChainEnd(seal.position, seal.hash)}
