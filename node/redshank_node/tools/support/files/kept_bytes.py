"""Finds the kept bytes that an argument names."""

import re

from redshank_node.tools.support.refusals import on_argument
from redshank_node.tools.tool import Artifacts, BadArguments
from redshank_shared.domain.asset_digests import checked_digest
from redshank_shared.domain.kept_bytes import KeptBytes

_PREFIX = "attachment:"
_DIGEST = re.compile(r"sha256:.*|[0-9a-f]{64}")


def is_asset(text: str) -> bool:
    """Whether this names kept bytes rather than a file."""
    return text.startswith(_PREFIX) or _DIGEST.fullmatch(text) is not None


def asked_digest(text: str, argument: str) -> str:
    """The digest that this names; BadArguments names the argument."""
    with on_argument(argument):
        return checked_digest(text.strip().removeprefix(_PREFIX))


async def kept(artifacts: Artifacts, text: str, argument: str) -> KeptBytes:
    """What the workstream keeps under this; BadArguments names the argument where it keeps none."""
    found = await artifacts.find(asked_digest(text, argument))
    if found is None:
        raise BadArguments(
            f"{argument}: this workstream keeps nothing under {text[:100]}; copy an asset_id from "
            "the result of a call, or make one with store_asset"
        )
    return found
