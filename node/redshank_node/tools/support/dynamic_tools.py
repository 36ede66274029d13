"""What a node offers beside its built-in tools, as it is at one moment."""

from collections.abc import Callable

import msgspec

from redshank_node.tools.tool import Tool
from redshank_shared.domain.scopes import CapabilityScope
from redshank_shared.profiles.profile import Profile


def no_note(_: CapabilityScope) -> str:
    """Nothing to say."""
    return ""


class Offered(msgspec.Struct, frozen=True):
    """Tools of others with what a model is told of them. `revision` differs whenever anything else
    does, so that what is made from it can be kept; `note` gives what goes behind the system prompt
    of an agent with this scope, the same bytes while nothing changes.
    """

    revision: int = 0
    tools: tuple[Tool, ...] = ()
    note: Callable[[CapabilityScope], str] = no_note


Dynamic = Callable[[Profile], Offered]
_NOTHING = Offered()


def offering_nothing(_: Profile) -> Offered:
    """What a node without servers offers."""
    return _NOTHING


class OfferedLater:
    """Offers nothing until somebody stands behind it: turns are made before servers are."""

    def __init__(self) -> None:
        self.behind: Dynamic = offering_nothing

    def __call__(self, profile: Profile) -> Offered:
        return self.behind(profile)
