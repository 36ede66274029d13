"""One workstream's kept bytes over a real database, with tools called as the engine calls them."""

import asyncio
import json
import pathlib
from typing import Any

from redshank_node.engine.artifacts import WorkstreamArtifacts
from redshank_node.tools.tool import CallContext, MediaRoute, Result, Tool, WebAccess, Workspace
from redshank_shared.domain.decide import decided
from redshank_shared.domain.events import AnyFact
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.workstream import Workstream, fold
from redshank_shared.stores.assets import Asset, Assets
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import Append, EventLog
from redshank_shared.vault.redaction import Redactor
from tests.store_fixtures import AT, begin, projected

WORKSTREAM = WorkstreamId("ws_1")


class ArtifactWorld:
    """`folder` is the workspace; `media` are the routes that make media."""

    def __init__(self, database: Database, folder: pathlib.Path) -> None:
        self.database = database
        self.folder = folder
        self.media: tuple[MediaRoute, ...] = ()
        self.redactor = Redactor()
        self._log = EventLog(database)
        begin(database, WORKSTREAM)

    def write(self, name: str, body: bytes | str) -> None:
        """A file of the workspace."""
        (self.folder / name).write_bytes(body.encode() if isinstance(body, str) else body)

    async def call(self, tool: Tool, **arguments: Any) -> Result:
        """Prepare and run it, then append what it leads to; BadArguments as the model reads it."""
        workspace = Workspace(self.folder, WebAccess(media=self.media))
        prepared = await asyncio.to_thread(tool.prepare, arguments, workspace)
        artifacts = WorkstreamArtifacts(self.database, WORKSTREAM, lambda: AT, self.redactor)
        context = CallContext("call_7", workspace, lambda _: None, artifacts=artifacts)
        result = await tool.run(prepared, context)
        if result.command is not None:
            self.append(decided(self.state(), result.command, AT))
        return result

    def append(self, facts: list[AnyFact]) -> None:
        """Put facts behind the log."""
        version = self.state().version
        self._log.append(Append(WORKSTREAM, version, tuple(facts), AT, projected(pending=True)))

    def state(self) -> Workstream:
        return fold(WORKSTREAM, self._log.read(WORKSTREAM))

    def last_fact(self) -> AnyFact:
        return self._log.read(WORKSTREAM)[-1].fact

    def kept(self, digest: str) -> Asset:
        """What the workstream refers to under this digest."""
        found = Assets(self.database).referred(digest, WORKSTREAM)
        assert found is not None
        return found


def said(result: Result) -> dict[str, Any]:
    """The JSON that a call ended with."""
    assert not result.is_error, result.output
    read: dict[str, Any] = json.loads(result.output)
    return read
