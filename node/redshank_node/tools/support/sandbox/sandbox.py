"""Confines the commands of tools, or says why it cannot."""

import contextlib
import os
from collections.abc import Mapping
from typing import Literal, Protocol

import msgspec

from redshank_node.tools.support.sandbox.groups import Groups
from redshank_node.tools.support.sandbox.limits import ProcessLimits
from redshank_node.tools.support.sandbox.view import View
from redshank_node.tools.tool import BadArguments, Confine, SandboxLevel
from redshank_shared.domain.limits import SANDBOXES
from redshank_shared.domain.roots import Root

Backend = Literal["bwrap", "landlock", "none", "missing"]

MEND = (
    "the operator must permit user namespaces for bubblewrap or Landlock (docs/sandbox.md), or say "
    'sandbox.backend = "none" in redshank.toml to run commands unconfined'
)


class Walls(Protocol):
    """One way to confine a command."""

    def argv(
        self, inner: tuple[str, ...], view: View, level: SandboxLevel, limits: ProcessLimits
    ) -> tuple[str, ...]:
        """The command line of `inner` at this level, with these limits on each of its processes."""


class Given(msgspec.Struct, frozen=True):
    """What a node can give. `walls` is None where nothing confines: then either the operator has
    said so (`none`) or no way works here (`missing`), which `reason` explains.
    """

    backend: Backend
    walls: Walls | None = None
    reason: str = ""

    @property
    def levels(self) -> tuple[SandboxLevel, ...]:
        """The levels at which commands can run here."""
        if self.walls is not None:
            return SANDBOXES[1:]
        return ("inherited",) if self.backend == "none" else ()


class Sandbox:
    """The sandbox of a node. `levels`: which level the operator gives a tool by name, beside what
    the tool asks for; `ask_network`: whether calls may ask for the network where they have none.
    """

    def __init__(
        self,
        given: Given,
        view: View,
        limits: ProcessLimits,
        levels: Mapping[str, SandboxLevel],
        groups: Groups | None = None,
        *,
        ask_network: bool = False,
    ) -> None:
        self._ask_network = ask_network
        self.given = given
        self._view = view
        self._limits = limits
        self._levels = levels
        self._groups = groups

    def refusal(self, tool: str, need: SandboxLevel, most: SandboxLevel) -> str:
        """See `Sandboxing`. A tool that runs no commands needs `inherited`: every node has it."""
        if need == "inherited" or self.given.backend != "missing":
            return ""
        level = self.level(tool, need, most)
        return (
            f"sandbox: {tool} needs {level}, this node cannot give it: {self.given.reason}; {MEND}"
        )

    def confining(self, tool: str, need: SandboxLevel, most: SandboxLevel) -> Confine | None:
        """See `Sandboxing`."""
        if refused := self.refusal(tool, need, most):
            raise BadArguments(refused)
        walls = self.given.walls
        if walls is None or need == "inherited":
            return None
        level = self.level(tool, need, most)

        def confined(inner: tuple[str, ...]) -> tuple[str, ...]:
            if level != "read_only":
                _make(self._view.roots or ())
            argv = walls.argv(inner, self._view, level, self._limits)
            return argv if self._groups is None else self._groups.argv(argv)

        return confined

    def giving(self, levels: Mapping[str, SandboxLevel]) -> "Sandbox":
        """See `Sandboxing`."""
        return self._with(self.given, self._view, {**self._levels, **levels})

    def offers_network(self, tool: str, need: SandboxLevel) -> bool:
        """See `Sandboxing`."""
        if not self._ask_network or self.given.walls is None or need == "inherited":
            return False
        # What may only read would be let write beside.
        return self.level(tool, need, "network_enabled") == "workspace_write"

    def within(self, roots: tuple[Root, ...]) -> "Sandbox":
        """See `Sandboxing`."""
        view = msgspec.structs.replace(self._view, roots=roots)
        given = self.given
        if given.backend == "landlock" and (covered := view.covered()):
            given = Given("missing", reason=f"Landlock cannot cover {covered[0]}; move it away")
        return self._with(given, view, self._levels)

    def _with(self, given: Given, view: View, levels: Mapping[str, SandboxLevel]) -> "Sandbox":
        asks = self._ask_network
        return Sandbox(given, view, self._limits, levels, self._groups, ask_network=asks)

    def level(self, tool: str, need: SandboxLevel, most: SandboxLevel) -> SandboxLevel:
        """What a tool's commands get: the operator's word, else the tool's, never above `most`."""
        level = min(self._levels.get(tool, need), most, key=SANDBOXES.index)
        return max(level, "read_only", key=SANDBOXES.index)

    def report(self) -> dict[str, object]:
        """What /health says of it."""
        report: dict[str, object] = {
            "backend": self.given.backend,
            "levels": list(self.given.levels),
            "reason": self.given.reason,
        }
        return {**report, "cgroups": self._groups is not None}


def _make(roots: tuple[Root, ...]) -> None:
    """Those that a command may write, as far as they can be made; the others stay away."""
    for root in roots:
        if root.writable:
            with contextlib.suppress(OSError):
                os.makedirs(root.folder, 0o700, exist_ok=True)
