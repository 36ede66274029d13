"""What a tool is: schema, effect, prepare, run in one frozen record."""

import pathlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol

import msgspec

from redshank_shared.domain.commands import Command
from redshank_shared.domain.delegation import UNBOUNDED, Boundary
from redshank_shared.domain.events import (
    Effect,
    Mode,
    Preview,
)
from redshank_shared.domain.images import ImageType
from redshank_shared.domain.kept_bytes import KeptBytes
from redshank_shared.domain.messages import ToolDescription
from redshank_shared.domain.pins import Pins
from redshank_shared.domain.question_events import Inquiry
from redshank_shared.domain.roots import WORKSPACE, Ground, Root, Roots
from redshank_shared.domain.scheduled import Scheduled
from redshank_shared.domain.seen_files import SeenFile
from redshank_shared.domain.tasks import Task, TaskChange
from redshank_shared.permissions.tool_card import server_of
from redshank_shared.profiles.exec_options import ExecOptions
from redshank_shared.settings.sections import Rerank, Tools

SandboxLevel = Literal["inherited", "read_only", "workspace_write", "network_enabled"]
SessionKind = Literal["interactive", "coordinator", "task_agent"]
Availability = Literal["always", "image_generation", "image_edit", "audio_generation"]


class BadArguments(Exception):
    """The model must mend its arguments. The message names the argument and the mend, and goes to
    the model.
    """


class NoAnswer(Exception):
    """The model gave no answer to a tool's own question. The message says why."""


class MediaRoute(msgspec.Struct, frozen=True):
    """A configured model that makes media (K-17). `name` is what a call asks for, `backend` the
    technical name of its provider; `find_key` gives its key as it is now, empty where it has none,
    or raises a RedshankError that says why there is none.
    """

    name: str
    backend: str
    model: str
    base_url: str
    can: frozenset[Availability]
    find_key: Callable[[], Awaitable[str]]
    timeout_seconds: float = 300.0


class Destination(msgspec.Struct, frozen=True):
    """The MCP server that a call goes to; `credentialed`: it needs a credential (K-68, K-75)."""

    server: str
    credentialed: bool = False


class SearchElsewhere(msgspec.Struct, frozen=True):
    """A search of the web by a server's tool. `find` takes the words, how many results are wanted,
    how many seconds it may take; it gives text, or raises NoAnswer.
    """

    to: Callable[[], Destination]
    find: Callable[[str, int, float], Awaitable[str]]


class WebAccess(msgspec.Struct, frozen=True):
    """What web tools may reach, whom they ask. `find_rerank_key` gives the reranker's key as it is
    now, empty where it has none; it raises a RedshankError that says why there is none. `media` are
    the models that make images or sound, in the operator's order. `elsewhere` searches where the
    operator names a server's tool for that.
    """

    tools: Tools = Tools()
    rerank: Rerank = Rerank()
    find_rerank_key: Callable[[], Awaitable[str]] | None = None
    media: tuple[MediaRoute, ...] = ()
    elsewhere: SearchElsewhere | None = None


Confine = Callable[[tuple[str, ...]], tuple[str, ...]]


class Sandboxing(Protocol):
    """What stands between this machine and the commands of tools."""

    def refusal(self, tool: str, need: SandboxLevel, most: SandboxLevel) -> str:
        """Why a call of this tool cannot be confined as it must be, with the mend, or empty.

        `need`: what the tool says; `most`: the widest level that the limits let (K-81).
        """

    def confining(self, tool: str, need: SandboxLevel, most: SandboxLevel) -> Confine | None:
        """What puts a command's argv into its sandbox, for `processes.Command.confine`; None where
        nothing is to be confined. BadArguments where `refusal` refuses.
        """

    def giving(self, levels: Mapping[str, SandboxLevel]) -> "Sandboxing":
        """The same sandbox with other levels for tools, by name, where these say one."""

    def offers_network(self, tool: str, need: SandboxLevel) -> bool:
        """Whether a call of this tool may ask for the network, which it has not else."""

    def within(self, roots: tuple[Root, ...]) -> "Sandboxing":
        """The same sandbox around commands that see these folders beside the workspace (C-25)."""


class Workspace(msgspec.Struct, frozen=True):
    """Where a call may work: the root folder that no path may leave, its reach into the web,
    what confines its commands (None: nobody asked for that, as in a test).
    `options` holds what the profile presets for this one tool, of what its `options` declare;
    `exec_options` what the operator set for the exec tool. While a call is prepared, `seen` holds
    the digests of files as its workstream saw them last, by path, `workstream_id` says whose it is.
    `boundary` is what its workstream may see or use. `roots` are the folders beside it that its
    profile names (C-25).
    """

    root: pathlib.Path
    web: WebAccess = WebAccess()
    options: Mapping[str, Any] = {}
    exec_options: ExecOptions = ExecOptions()
    sandbox: Sandboxing | None = None
    seen: Mapping[str, str] = {}
    workstream_id: str = ""
    boundary: Boundary = UNBOUNDED
    roots: tuple[Root, ...] = ()

    @property
    def ground(self) -> Ground:
        """Where the paths of a call are found."""
        return Roots(self.root, self.roots) if self.roots else self.root

    @property
    def shown_root(self) -> str:
        """What an agent calls the root (C-27)."""
        return WORKSPACE if self.roots else str(self.root)

    def confining(self, tool: str, need: SandboxLevel, most: SandboxLevel) -> Confine | None:
        """`Sandboxing.confining` of this workspace."""
        return None if self.sandbox is None else self.sandbox.confining(tool, need, most)


class Schedules(Protocol):
    """What a tool may look up about schedules."""

    async def of(self, workstream_id: str) -> list[Scheduled]:
        """All of a workstream's, newest first, those that are over among them."""


class Artifacts(Protocol):
    """The kept bytes of one workstream."""

    async def keep(self, body: bytes, media_type: str) -> KeptBytes:
        """The bytes as they are kept, secrets in a text blotted out; what the call leads to must
        refer to their digest. Raises Unavailable.
        """

    async def find(self, digest: str) -> KeptBytes | None:
        """What the workstream refers to under this digest. Raises Unavailable."""


class BackgroundCommand(msgspec.Struct, frozen=True):
    """A command that is to run beyond its turn: `shown` is what a person reads of it."""

    shown: str
    argv: tuple[str, ...]
    folder: pathlib.Path
    environment: dict[str, str]
    timeout_seconds: float
    confine: Confine | None = None


class Tasks(Protocol):
    """The tasks of one workstream (K-24). Any of these raises Unavailable; what names a task that
    is not there raises NotFound; what its state does not allow raises Conflict.
    """

    async def create(self, subject: str, description: str) -> Task:
        """A new task of record."""

    async def start(self, subject: str, command: BackgroundCommand) -> Task:
        """The command, running on this node until it ends, is stopped, or the node is."""

    async def all(self) -> list[Task]:
        """Every task, oldest first, without what they wrote."""

    async def get(self, task_id: str) -> Task:
        """The task with what it wrote so far."""

    async def ended(self, task_id: str, within_seconds: float) -> Task:
        """The task once it has ended, or as it is after so many seconds."""

    async def change(self, task_id: str, change: TaskChange) -> Task:
        """The task as it is after the change; Invalid where nothing is to change."""

    async def stop(self, task_id: str) -> Task:
        """The task, cancelled: a command that ran is killed with all that it started."""

    async def delete(self, task_id: str) -> None:
        """Forget it, with what it wrote."""


class Away(msgspec.Struct, frozen=True):
    """A server whose tools cannot be had now, with its state, with why in words."""

    server: str
    state: str
    why: str = ""


class Finding(msgspec.Struct, frozen=True):
    """What a search among the tools that wait brought, best first. `searched`: how many tools of
    each server were looked at.
    """

    tools: tuple[ToolDescription, ...] = ()
    searched: Mapping[str, int] = {}
    away: tuple[Away, ...] = ()


class ToolFinder(Protocol):
    """Looks through the tools of a turn that wait to be found (T-60)."""

    async def find(self, query: str) -> Finding:
        """Those that fit best, at most as many as the operator lets one search bring."""


class CallContext(msgspec.Struct, frozen=True):
    """What a running call is given. `emit` shows output in progress to watchers (already decoded
    text); `owner` is the workstream's; `now_seconds` is when the call began, in seconds since 1970;
    `max_seconds` is what the call may take if it is to end by itself (K-82); `ask_model` puts a
    question of the tool's own to the workstream's model, as (instruction, text) -> answer, or
    raises NoAnswer; what that uses is recorded (F47); `max_sandbox` is the widest sandbox that the
    limits let the call have (K-81); `pins` are the files that stand in every prompt (C-22);
    `artifacts` are the bytes that are kept for the workstream; `tasks` its background work;
    `finder` looks through the tools that are not shown yet.
    """

    call_id: str
    workspace: Workspace
    emit: Callable[[str], None]
    max_output_bytes: int = 262144
    workstream_id: str = ""
    owner: str = ""
    now_seconds: float = 0.0
    max_seconds: float = 175.0
    schedules: Schedules | None = None
    ask_model: Callable[[str, str], Awaitable[str]] | None = None
    max_sandbox: SandboxLevel = "network_enabled"
    pins: Pins = Pins()
    artifacts: Artifacts | None = None
    tasks: Tasks | None = None
    parent: str = ""
    finder: ToolFinder | None = None


class Prepared(msgspec.Struct, frozen=True):
    """Validated arguments (schema and paths checked, nothing done yet) and what a person sees
    before deciding.

    `label` is what a rule may name behind the tool and a colon, as in `watch:create` (O14).
    `inquiry` is put before a person in place of running the call (K-18). `goes_to` is where the
    workstream's credential scope must let it go; `sandbox` what it needs beyond its tool (K-81).
    """

    arguments: dict[str, Any]
    preview: Preview
    label: str = ""
    inquiry: Inquiry | None = None
    goes_to: Destination | None = None
    sandbox: SandboxLevel = "inherited"


class ImagePart(msgspec.Struct, frozen=True):
    """An image as it came, for a model that sees."""

    media_type: ImageType
    body: bytes


class Result(msgspec.Struct, frozen=True):
    """How a call ended. A tool's failure is a result, not an exception. `output` is what the model
    reads.

    `command` is carried out in the append that records the result, once (F41); where it is refused,
    the refusal is what the model reads. `images` are kept as assets; a model that sees is shown
    them behind the output, which describes them for the others (T-22). `seen` are files that the
    call read or left as they are now: what an edit may build on (T-25).
    """

    output: str
    is_error: bool = False
    outcome: Literal["ok", "error", "timeout"] = "ok"
    truncated: bool = False
    command: Command | None = None
    images: tuple[ImagePart, ...] = ()
    seen: tuple[SeenFile, ...] = ()


class KindVariant(msgspec.Struct, frozen=True):
    """How a tool looks in sessions of one kind: what is empty stays as in the others (T-03)."""

    description: str = ""
    parameters: dict[str, Any] | None = None


class Form(msgspec.Struct, frozen=True):
    """A tool's job under the arguments of another system, where a profile says so: `prepare` takes
    these in place of the tool's own.
    """

    description: str
    parameters: dict[str, Any]
    prepare: Callable[[dict[str, Any], Workspace], Prepared]
    primary_key: str


class Origin(msgspec.Struct, frozen=True):
    """The MCP server that a tool comes from, its own name there, what the server says of it as far
    as it is shown: `schema` is JSON text.
    """

    server: str
    name: str
    description: str = ""
    schema: str = ""


class Tool(msgspec.Struct, frozen=True):
    """One tool. `prepare` has no effect and raises BadArguments; `run` acts, and stops at once when
    its task is cancelled.

    `timeout_seconds` bounds `run` from outside; `parallel` says whether it may run beside others of
    its batch;
    `plan` whether plan mode lists it; `primary_key` is the argument that a bare string stands for
    (T-11); `asks` are the labels of calls that a person is asked about where no rule says otherwise
    (T-28); `modes` those in which it may be called at all, every one where none is named;
    `labelled_by` names the argument whose value is a call's label, where one is;
    `described` the digest of what a server says of it: another one asks a person anew (F51);
    `origin`: where that server is; `top_level`: a workstream with a parent may not call it.

    Which sessions have it (T-01, T-02): `task_agent`: a workstream with a parent; `coordinator`: a
    coordinator, and then nobody else but where `interactive` says so. `kind_variants` overlays what
    sessions of a kind see. `cwd_note` goes behind the description with {working_dir} filled in,
    `workspace_note` with {workspace_dir}, where there is a workspace (T-04). `availability`: the
    capability that a configured model must have (K-8). `options`: JSON-schema properties that only
    a profile presets; they reach the tool in `Workspace.options`, the model never sees them.
    `forms`: what else a profile may show it as, by a name. `as_said`: see `as_said_now`.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    effect: Effect
    prepare: Callable[[dict[str, Any], Workspace], Prepared]
    run: Callable[[Prepared, CallContext], Awaitable[Result]]
    primary_key: str
    parallel: bool = False
    plan: bool = False
    timeout_seconds: float = 60.0
    sandbox: SandboxLevel = "inherited"
    aliases: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    modes: tuple[Mode, ...] = ()
    described: str = ""
    origin: Origin | None = None
    top_level: bool = False
    labelled_by: str = ""
    task_agent: bool = True
    coordinator: bool = False
    interactive: bool = False
    kind_variants: Mapping[SessionKind, KindVariant] = {}
    cwd_note: str = ""
    workspace_note: str = ""
    availability: Availability = "always"
    options: Mapping[str, Any] = {}
    forms: Mapping[str, Form] = {}
    as_said: Callable[["Tool"], "Tool"] | None = None

    def as_said_now(self) -> "Tool":
        """With what its server says of it at this moment, which models may not be shown (C-55)."""
        return self.as_said(self) if self.as_said else self

    @property
    def server(self) -> str:
        """The MCP server that the tool comes from, or ""."""
        return self.origin.server if self.origin else server_of(self.name)
