"""Turns of a real engine whose tools come from MCP servers."""

from pathlib import Path

from redshank_node.engine.profiles_in_force import toolsets_of, workspace_of
from redshank_node.mcp_client.calling import Servers
from redshank_node.mcp_client.offered import McpOffer
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import WebAccess
from redshank_shared.domain.commands import PostMessage, Resolution, ResolveApprovals
from redshank_shared.domain.delegation import UNBOUNDED, Boundary
from redshank_shared.domain.events import (
    ApprovalRequested,
    CallDecided,
    CallFinished,
    Fact,
    Mode,
    WorkstreamCreated,
)
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.profiles.profile import load as profile
from redshank_shared.session_commands import first_facts
from redshank_shared.settings.load import load
from redshank_shared.stores.permission_rules import PermissionRules, RuleRow
from tests.integration.engine_world import World, WorldNode, fresh_id, now, says


class McpTurns:
    """One workstream after another, all over the same servers; `node` is the last one's."""

    def __init__(self, world: World, servers: Servers, settings: str = "") -> None:
        self.world = world
        self.node: WorldNode | None = None
        file = world.folder.parent / "redshank.toml"
        # Every tool is shown: none waits until it is searched for.
        usual = f'[node]\nworkspace = "{world.folder}"\n[tools]\nsearch = "off"\n'
        file.write_text(usual + settings)
        read = load(file, {})
        self.offer = McpOffer(servers, str)
        self.offer.begin(profile("default"))
        world.toolsets = toolsets_of(
            read, BUILTIN, workspace_of(read, WebAccess()), self.offer.offered
        )

    async def begun(
        self, mode: Mode = "default", profile: str = "default", boundary: Boundary = UNBOUNDED
    ) -> WorkstreamId:
        """A workstream with a first message."""
        workstream = WorkstreamId(fresh_id("ws"))
        created = WorkstreamCreated(
            name="t", owner="ines", mode=mode, profile=profile, boundary=boundary
        )
        facts = first_facts(created, PostMessage("go", "ines"), now())
        await self.world.commands.create(workstream, facts, now())
        return workstream

    async def go_on(self, workstream: WorkstreamId, *calls: tuple[str, str]) -> list[Fact]:
        """What the turn that is due now adds to the log; its model asks for these calls, each in a
        step of its own.
        """
        before = len(self.world.facts(workstream))
        answers = [says("", call) for call in calls]
        async with self.world.node([*answers, says("done")], BUILTIN) as node:
            self.node = node
            await node.turns.take_up(workstream)
            await self.world.until_rest(workstream)
            await self.world.until(lambda: node.turns.busy == 0, "the slot is free")
        return list(self.world.facts(workstream)[before:])

    async def said(self, tool: str, arguments: str = '{"word": "x"}') -> CallFinished:
        """The result of one call in a workstream of its own that asks nobody."""
        workstream = await self.begun("bypassPermissions")
        (found,) = results(await self.go_on(workstream, (tool, arguments)))
        return found

    async def answer(
        self, workstream: WorkstreamId, asked: ApprovalRequested, behavior: str, edited: str = ""
    ) -> None:
        """A person answers."""
        resolution = Resolution(
            asked.request_id,
            "allow" if behavior == "allow" else "deny",
            updated_arguments=edited,
        )
        await self.world.do(workstream, ResolveApprovals((resolution,), "ana"))

    async def speak(self, workstream: WorkstreamId) -> None:
        """A person says more."""
        await self.world.do(workstream, PostMessage("more", "ines"))


def allow(world: World, pattern: str) -> None:
    """A rule of the user's."""
    row = RuleRow(
        rule_id=fresh_id("rule"),
        scope="user",
        subject="*",
        pattern=pattern,
        decision="allow",
        locked=False,
        origin="static",
        note="",
        created_by="ines",
        created_at=now(),
    )
    PermissionRules(world.database).put(row)


def results(facts: list[Fact]) -> list[CallFinished]:
    """The calls' results."""
    return [fact for fact in facts if isinstance(fact, CallFinished)]


def asked(facts: list[Fact]) -> list[ApprovalRequested]:
    """What a person was asked."""
    return [fact for fact in facts if isinstance(fact, ApprovalRequested)]


def decided(facts: list[Fact]) -> list[CallDecided]:
    """The decisions."""
    return [fact for fact in facts if isinstance(fact, CallDecided)]


def folder_of(tmp_path: Path) -> Path:
    """A workspace."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder
