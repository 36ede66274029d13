"""At which levels a profile has the commands of its workstreams confined."""

from collections.abc import Mapping
from typing import Literal

import msgspec

Level = Literal["read_only", "workspace_write", "network_enabled"]


class SandboxChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[sandbox]` of a profile: the level of each tool's commands, in place of what the
    settings say; "" is what they say. Limits cap it as they cap theirs (K-81).
    """

    bash: Level | Literal[""] = ""
    exec: Level | Literal[""] = ""

    @property
    def levels(self) -> Mapping[str, Level]:
        """What is said, by tool."""
        said = {"bash": self.bash, "exec": self.exec}
        return {tool: level for tool, level in said.items() if level}
