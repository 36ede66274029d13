"""Carries out what is asked of workstreams."""

from collections.abc import Callable

import msgspec

from redshank_console.services.forks import checked_after, forked_facts, mode_at_end
from redshank_console.services.principal import Principal, require
from redshank_console.services.reading import Reading
from redshank_console.services.views import Standing, view_of_state
from redshank_shared.domain.commands import (
    Command,
    PostMessage,
)
from redshank_shared.domain.delegation import Delegation, delegated, standing_alone
from redshank_shared.domain.errors import Invalid, NotAllowed
from redshank_shared.domain.events import AnyFact, Mode, WorkstreamCreated
from redshank_shared.domain.ids import WorkstreamId, new_id
from redshank_shared.domain.scopes import route_usable
from redshank_shared.domain.workstream import Workstream
from redshank_shared.profiles.profile import known_profiles
from redshank_shared.session_commands import (
    Done,
    KeyedRequest,
    Render,
    SessionCommands,
    first_facts,
)
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import EventLog
from redshank_shared.stores.permission_rules import AllowedAlways
from redshank_shared.wire.views import WorkstreamView

# They decide what would have asked a person.
WIDER_MODES: tuple[Mode, ...] = ("acceptEdits", "bypassPermissions")
# The HTTP status and the JSON body that a view is shown with.
Show = Callable[[WorkstreamView], tuple[int, str]]


class Defaults(msgspec.Struct, frozen=True):
    """What a new workstream gets where its creator says nothing, and the models that there are."""

    model: str
    mode: Mode
    profile: str
    models: tuple[str, ...]


class Wanted(msgspec.Struct, frozen=True):
    """A workstream to create. Empty fields take the defaults."""

    owner: str
    name: str = ""
    profile: str = ""
    persona: str = ""
    mode: Mode | None = None
    model: str = ""
    message: str | None = None
    node: str = ""
    labels: tuple[str, ...] = ()
    parent: str = ""
    delegation: Delegation = Delegation()


class Answer(msgspec.Struct, frozen=True):
    """An HTTP status and its JSON body."""

    status: int
    body: str


class Clock(msgspec.Struct, frozen=True):
    """Where time and randomness come from: RFC 3339 text, milliseconds, so many random bytes."""

    at: Callable[[], str]
    milliseconds: Callable[[], int]
    random_bytes: Callable[[int], bytes]

    def new_id(self, prefix: str) -> str:
        """A fresh id of this kind."""
        return new_id(prefix, self.milliseconds(), self.random_bytes(8))

    def seconds(self) -> float:
        """Seconds since 1970."""
        return self.milliseconds() / 1000


class Orders:
    """Each order is one append, and its answer is kept under the caller's idempotency key.

    Raises what `decide` raises, with nothing changed; Unavailable while the database is away.
    """

    def __init__(
        self,
        commands: SessionCommands,
        reading: Reading,
        database: Database,
        log: EventLog,
        defaults: Defaults,
        clock: Clock,
    ) -> None:
        self._commands = commands
        self._reading = reading
        self._database = database
        self._log = log
        self._defaults = defaults
        self._clock = clock

    async def create(self, wanted: Wanted, by: Principal, keyed: KeyedRequest | None) -> Answer:
        """201 and the view. NotAllowed where its mode, asked for or a parent's, decides what would
        have asked a person, and these may not approve (F71).
        """
        workstream_id = WorkstreamId(self._clock.new_id("ws"))
        created = await self._within_parent(self._created(wanted, workstream_id), wanted)
        if created.mode in WIDER_MODES and (wanted.mode or wanted.parent):
            require(by, "approve", f"a workstream of mode {created.mode}")
        message = None
        if wanted.message is not None:
            message = PostMessage(wanted.message, wanted.owner)
        at = self._clock.at()
        return await self._begin(workstream_id, first_facts(created, message, at), at, keyed)

    async def post(
        self, workstream_id: WorkstreamId, message: PostMessage, keyed: KeyedRequest | None
    ) -> Answer:
        """202 and the message's sequence number: it is in the log."""
        done = await self._commands.execute(
            workstream_id, message, self._clock.at(), keyed=keyed, render=_posted
        )
        return answer_of(done, _posted)

    async def order(
        self,
        workstream_id: WorkstreamId,
        command: Command,
        keyed: KeyedRequest | None,
        show: Show | None = None,
        always: tuple[AllowedAlways, ...] = (),
    ) -> Answer:
        """200 and the view as the command left it, or what `show` makes of it. `always`: rules that
        the command makes, kept with it or not at all.
        """
        standing = await self._reading.standing(workstream_id)
        render = self._renders(show or _as_it_is, standing)
        done = await self._commands.execute(
            workstream_id, command, self._clock.at(), keyed=keyed, render=render, always=always
        )
        return answer_of(done, render)

    async def fork(
        self, origin: WorkstreamId, after: int, by: Principal, keyed: KeyedRequest | None
    ) -> Answer:
        """201 and the view of a new workstream that shares the log up to `after`, at rest. Its mode
        is that of then: NotAllowed where a person must be able to approve to choose it.
        """
        state = await self._commands.load(origin)
        checked_after(after, state.version)
        log = await self._database.run(self._log.read, origin, 0, after)
        mode = mode_at_end(log)
        if mode in WIDER_MODES:
            require(by, "approve", f"a fork in mode {mode}")
        at = self._clock.at()
        facts = forked_facts(log, origin, by.name, at, lambda: self._clock.new_id("apr"))
        return await self._begin(WorkstreamId(self._clock.new_id("ws")), facts, at, keyed)

    async def load(self, workstream_id: WorkstreamId) -> Workstream:
        """The state as the log says now; NotFound."""
        return await self._commands.load(workstream_id)

    async def _begin(
        self,
        workstream_id: WorkstreamId,
        facts: list[AnyFact],
        at: str,
        keyed: KeyedRequest | None,
    ) -> Answer:
        render = self._renders(_created_view, Standing())
        done = await self._commands.create(workstream_id, facts, at, keyed=keyed, render=render)
        return answer_of(done, render)

    def _renders(self, show: Show, standing: Standing) -> Render:
        def render(state: Workstream, _seq: int) -> tuple[int, str]:
            return show(view_of_state(state, standing, self._clock.seconds()))

        return render

    def _created(self, wanted: Wanted, workstream_id: WorkstreamId) -> WorkstreamCreated:
        profile = wanted.profile or self._defaults.profile
        _check_known("profile", profile, known_profiles())
        _check_known("persona", wanted.persona, ("",))
        _check_known("model", wanted.model or self._defaults.model, self._defaults.models)
        return WorkstreamCreated(
            name=wanted.name or workstream_id,
            owner=wanted.owner,
            profile=profile,
            persona=wanted.persona,
            mode=wanted.mode or self._defaults.mode,
            model=wanted.model or self._defaults.model,
            labels=wanted.labels,
            node=wanted.node,
            parent=wanted.parent,
        )

    async def _within_parent(self, created: WorkstreamCreated, wanted: Wanted) -> WorkstreamCreated:
        """A child gets no more than its parent has at this moment (K-26, K-27); what stands alone
        is bounded by its own words only.
        """
        asked = wanted.delegation
        if wanted.parent:
            parent = await self.load(WorkstreamId(wanted.parent))
            now = msgspec.structs.replace(parent.created.boundary, mode=parent.mode)
            held = delegated(now, asked)
        else:
            held = standing_alone(asked, created.mode)
        if not route_usable(held.credentials, created.model):
            raise NotAllowed(
                f"the credential scope leaves out the model {created.model}: name a model that it "
                "allows, or widen it",
                field="model",
            )
        return msgspec.structs.replace(created, boundary=held, mode=held.mode)


def _as_it_is(view: WorkstreamView) -> tuple[int, str]:
    return 200, view.model_dump_json()


def _created_view(view: WorkstreamView) -> tuple[int, str]:
    return 201, view.model_dump_json()


def _check_known(field: str, name: str, known: tuple[str, ...]) -> None:
    if name in known:
        return
    there_are = ", ".join(word for word in known if word) or "none yet; leave it out"
    raise Invalid(
        f"there is no {field} {name!r}; there are: {there_are}",
        code=f"unknown_{field}",
        field=field,
    )


def _posted(_state: Workstream, seq: int) -> tuple[int, str]:
    return 202, f'{{"seq":{seq}}}'


def answer_of(done: Done, render: Render) -> Answer:
    """What the command led to, or what the same request was answered before."""
    if done.replayed is not None:
        return Answer(*done.replayed)
    assert done.state is not None
    return Answer(*render(done.state, done.seq))
