"""Which folders beside the workspace a profile gives its workstreams."""

from typing import Literal

import msgspec

NAMES = ("memories", "blocks", "skills", "tasks")
Access = Literal["none", "read", "write"]


class RootChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[roots]` of a profile (C-25): what its tools may do in each of these folders;
    `system`: whether they may read those of programs, with what programs need of /etc.
    """

    memories: Access = "none"
    blocks: Access = "none"
    skills: Access = "none"
    tasks: Access = "none"
    system: bool = False
