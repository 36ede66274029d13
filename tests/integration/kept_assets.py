"""Puts into a log that its workstream refers to kept bytes."""

from redshank_shared.domain.artifact_events import AssetsStored, StoredAsset
from redshank_shared.domain.events import AnyFact
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.plan import number, project
from redshank_shared.domain.workstream import advance, fold
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import Append, EventLog
from tests.store_fixtures import AT


def append(database: Database, workstream: WorkstreamId, *facts: AnyFact) -> None:
    """These facts behind the workstream's log."""
    log = EventLog(database)
    state = fold(workstream, log.read(workstream))
    after = advance(state, number(state.version, AT, list(facts)))
    log.append(Append(workstream, state.version, facts, AT, project(after)))


def refer(database: Database, workstream: WorkstreamId, *digests: str) -> None:
    """A fact that refers to these bytes."""
    assets = tuple(StoredAsset(digest, "text/plain", 1) for digest in digests)
    append(database, workstream, AssetsStored("call_1", "store_asset", assets))
