"""One workstream's log in memory, with the version and the epoch that guard its appends."""

from redshank_shared.domain.errors import Fenced, VersionMoved
from redshank_shared.domain.events import AnyFact, Recorded, WorkstreamCreated
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.plan import number, project, with_state
from redshank_shared.domain.workstream import Workstream, advance

WORKSTREAM = WorkstreamId("ws_0000000000000000000000")


class MemoryLog:
    """Append, claim and release as protocol.md says. `state` is kept beside the log, step by step;
    time moves by a second with every append.
    """

    def __init__(self) -> None:
        self.records: list[Recorded] = []
        self.state = Workstream(id=WORKSTREAM)
        self.epoch = 0
        self.holder = ""
        self.lease_lives = False
        self._seconds = 0
        created: list[AnyFact] = [WorkstreamCreated(name="garden", owner="ada")]
        self.append(with_state(self.state, created, self.now()), expected_version=0)

    @property
    def version(self) -> int:
        return len(self.records)

    def now(self) -> str:
        """The time of the next append."""
        minutes, seconds = divmod(self._seconds, 60)
        return f"2026-11-30T{8 + minutes // 60:02}:{minutes % 60:02}:{seconds:02}.000Z"

    def append(
        self,
        facts: list[AnyFact],
        *,
        expected_version: int,
        epoch: int | None = None,
        release: bool = False,
    ) -> None:
        """All facts and the release, or none; raises Fenced for an old epoch, VersionMoved when
        somebody appended since.
        """
        if epoch is not None and epoch != self.epoch:
            raise Fenced("the lease went to another node")
        if expected_version != self.version:
            raise VersionMoved("somebody appended")
        recorded = number(self.version, self.now(), facts)
        self._seconds += 1
        self.records.extend(recorded)
        self.state = advance(self.state, recorded)
        if release:
            self.holder = ""
            self.lease_lives = False

    def read(self, after: int) -> list[Recorded]:
        return self.records[after:]

    def claim(self, node: str) -> int | None:
        """A new epoch for this node, or None where nothing is pending or another holder lives."""
        if not project(self.state).pending or self.lease_lives:
            return None
        self.epoch += 1
        self.holder = node
        self.lease_lives = True
        return self.epoch
