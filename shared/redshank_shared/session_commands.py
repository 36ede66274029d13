"""The only road from a command to the log: load, decide, append, announce, nudge."""

import asyncio
import logging
import random
from collections.abc import Callable

import msgspec

from redshank_shared.domain.commands import Command, PostMessage
from redshank_shared.domain.decide import decide
from redshank_shared.domain.errors import Conflict, RedshankError, Unavailable, VersionMoved
from redshank_shared.domain.events import (
    AnyFact,
    Recorded,
    WorkstreamCreated,
    comes_due,
    encode_recorded,
)
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.plan import number, project, with_state
from redshank_shared.domain.workstream import Workstream, advance
from redshank_shared.queue.bus import Bus
from redshank_shared.queue.dispatch import Dispatch
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import Append, EventLog
from redshank_shared.stores.folds import Folds
from redshank_shared.stores.idempotency import Idempotency, IdempotencyEntry
from redshank_shared.stores.permission_rules import AllowedAlways

logger = logging.getLogger(__name__)

_MOST_ATTEMPTS = 50


class KeyedRequest(msgspec.Struct, frozen=True):
    """A write that its sender may repeat: the same key and body get the same answer, another body a
    conflict.
    """

    scope: str
    key: str
    request_digest: str


class Done(msgspec.Struct, frozen=True):
    """What a command led to. `seq`: the first fact it appended, or the version where it changed
    nothing.

    `replayed` is the answer (status, JSON text) that the same request got before, if it did.
    """

    state: Workstream | None
    seq: int = 0
    replayed: tuple[int, str] | None = None


Render = Callable[[Workstream, int], tuple[int, str]]


class SessionCommands:
    """Carries commands out. Safe to run in any number of processes at once."""

    def __init__(
        self,
        database: Database,
        log: EventLog,
        folds: Folds,
        idempotency: Idempotency,
        dispatch: Dispatch,
        bus: Bus,
    ) -> None:
        self._database = database
        self._log = log
        self._folds = folds
        self._idempotency = idempotency
        self._dispatch = dispatch
        self._bus = bus

    async def load(self, workstream_id: WorkstreamId) -> Workstream:
        """The state as the log says now; raises NotFound."""
        return await self._database.run(self._folds.load, workstream_id)

    async def create(
        self,
        workstream_id: WorkstreamId,
        facts: list[AnyFact],
        at: str,
        *,
        keyed: KeyedRequest | None = None,
        render: Render | None = None,
    ) -> Done:
        """Begin a workstream with these facts, the first of them `workstream.created`."""
        assert isinstance(facts[0], WorkstreamCreated)
        facts = with_state(Workstream(id=workstream_id), facts, at)
        recorded = number(0, at, facts)
        state = advance(Workstream(id=workstream_id), recorded)
        done = Done(state, 1)
        entry = _entry(keyed, render, state, 1)
        try:
            await self._database.run(self._create, state, tuple(facts), at, entry)
        except Conflict:
            if earlier := await self._database.run(self._answered_before, keyed):
                return earlier
            raise
        await self._announce(state, recorded, created=True)
        return done

    async def execute(
        self,
        workstream_id: WorkstreamId,
        command: Command,
        at: str,
        *,
        keyed: KeyedRequest | None = None,
        render: Render | None = None,
        always: tuple[AllowedAlways, ...] = (),
    ) -> Done:
        """Decide this command on the state as it is and append what follows, with the rules that it
        makes for always; raises what `decide` raises.

        When somebody appends in between, the command is decided again on what they left.
        """
        for attempt in range(_MOST_ATTEMPTS):
            try:
                done, recorded = await self._database.run(
                    self._decide_and_append, workstream_id, command, at, keyed, render, always
                )
            except VersionMoved:
                await asyncio.sleep(random.uniform(0, 0.002 * (attempt + 1)))
                continue
            if done.state is not None and recorded:
                await self._announce(done.state, recorded)
            return done
        raise Unavailable(
            f"{workstream_id} changed {_MOST_ATTEMPTS} times while this was decided; try again",
            code="too_contended",
        )

    def _create(
        self,
        state: Workstream,
        facts: tuple[AnyFact, ...],
        at: str,
        entry: IdempotencyEntry | None,
    ) -> None:
        self._log.create(state.id, facts, at, project(state), entry)
        self._folds.keep(state)

    def _decide_and_append(
        self,
        workstream_id: WorkstreamId,
        command: Command,
        at: str,
        keyed: KeyedRequest | None,
        render: Render | None,
        always: tuple[AllowedAlways, ...],
    ) -> tuple[Done, list[Recorded]]:
        """A key is looked up only where the command cannot be carried out: its own row refuses a
        second append.
        """
        try:
            state = self._folds.load(workstream_id)
            facts = decide(state, command, at)
            if facts:
                return self._appended(state, facts, at, keyed, render, always)
        except VersionMoved:
            raise
        except RedshankError:
            if earlier := self._answered_before(keyed):
                return earlier, []
            raise
        if earlier := self._answered_before(keyed):
            return earlier, []
        return Done(state, state.version), []

    def _appended(
        self,
        state: Workstream,
        facts: list[AnyFact],
        at: str,
        keyed: KeyedRequest | None,
        render: Render | None,
        always: tuple[AllowedAlways, ...],
    ) -> tuple[Done, list[Recorded]]:
        recorded = number(state.version, at, facts)
        after = advance(state, recorded)
        append = Append(
            workstream_id=state.id,
            expected_version=state.version,
            facts=tuple(facts),
            at=at,
            projection=project(after),
            idempotency=_entry(keyed, render, after, recorded[0].seq),
            always=always,
        )
        self._log.append(append)
        self._folds.keep(after)
        return Done(after, recorded[0].seq), recorded

    async def _announce(
        self, state: Workstream, recorded: list[Recorded], created: bool = False
    ) -> None:
        """After the commit, and only then: tell watchers and nodes. What is lost here the
        reconciler hands out again.
        """
        frames = [encode_recorded(fact) for fact in recorded]
        try:
            if project(state).pending:
                await self._dispatch.nudge(state.id, directed_to=state.created.node)
            if not created:
                scheduled = comes_due(one.fact for one in recorded)
                await self._bus.publish_events(
                    state.id, state.version, frames, by="", scheduled=scheduled
                )
        except Unavailable as error:
            logger.warning("not announced, the reconciler will: %s", error.detail)

    def _answered_before(self, keyed: KeyedRequest | None) -> Done | None:
        if keyed is None:
            return None
        entry = self._idempotency.find(keyed.scope, keyed.key)
        if entry is None:
            return None
        if entry.request_digest != keyed.request_digest:
            raise Conflict(
                "this Idempotency-Key was used with another body; send a new key for a new request",
                code="idempotency_key_reused",
                field="Idempotency-Key",
            )
        return Done(None, replayed=(entry.status, entry.answer))


def first_facts(created: WorkstreamCreated, message: PostMessage | None, at: str) -> list[AnyFact]:
    """What a new workstream's log begins with; Invalid where the message cannot be stored."""
    if message is None:
        return [created]
    state = advance(Workstream(id=WorkstreamId("")), number(0, at, [created]))
    return [created, *decide(state, message, at)]


def _entry(
    keyed: KeyedRequest | None, render: Render | None, after: Workstream, seq: int
) -> IdempotencyEntry | None:
    if keyed is None or render is None:
        return None
    status, answer = render(after, seq)
    return IdempotencyEntry(
        scope=keyed.scope,
        key=keyed.key,
        request_digest=keyed.request_digest,
        status=status,
        answer=answer,
    )
