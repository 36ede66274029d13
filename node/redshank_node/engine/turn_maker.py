"""Makes a node's turns from the parts that all of them share."""

from collections.abc import Callable

import msgspec

from redshank_node.engine.accepted_tools import AcceptedTools
from redshank_node.engine.answering import Answering, Models
from redshank_node.engine.artifacts import WorkstreamArtifacts
from redshank_node.engine.asking import asking_as
from redshank_node.engine.background import Background
from redshank_node.engine.execution import Caller, Execution
from redshank_node.engine.hearing import Hearing
from redshank_node.engine.hook_agents import HookAgents
from redshank_node.engine.hook_tools import tools_of_hooks
from redshank_node.engine.hooks import hooks_of
from redshank_node.engine.kept_images import KeptImages
from redshank_node.engine.lease import Lease
from redshank_node.engine.limits_in_force import BatchLimits, LimitsInForce, stored_in
from redshank_node.engine.live_text import LiveText
from redshank_node.engine.oversize import keeping
from redshank_node.engine.pipelines import Judging, Pipelines
from redshank_node.engine.policy import policy_over
from redshank_node.engine.profiles_in_force import toolsets_of, workspace_of
from redshank_node.engine.recorder import Recorder
from redshank_node.engine.sandboxing import sandbox_of
from redshank_node.engine.schedule_reader import ScheduleReader
from redshank_node.engine.side_questions import SideQuestions
from redshank_node.engine.tool_finder import finder_of, nobody_away
from redshank_node.engine.turn import Turn
from redshank_node.engine.workstream_tasks import WorkstreamTasks
from redshank_node.providers.provider import Provider
from redshank_node.providers.retry import RetryPolicy
from redshank_node.tools.support.dynamic_tools import Dynamic, offering_nothing
from redshank_node.tools.tool import Away, Tool, WebAccess
from redshank_shared import clock
from redshank_shared.metrics import Metrics
from redshank_shared.queue.bus import Bus
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.database import Database
from redshank_shared.stores.schedules import Schedules
from redshank_shared.vault.redaction import Redactor


class TurnMaker:
    """One for a node."""

    def __init__(  # noqa: PLR0913 - what bootstrap has made, handed over once
        self,
        settings: Settings,
        tools: tuple[Tool, ...],
        database: Database,
        bus: Bus,
        providers: dict[str, Provider],
        redactor: Redactor,
        metrics: Metrics,
        new_id: Callable[[str], str],
        web: WebAccess,
        away: Callable[[], tuple[Away, ...]] = nobody_away,
        dynamic: Dynamic = offering_nothing,
    ) -> None:
        unconfined = workspace_of(settings, web)
        self.sandbox = sandbox_of(settings, unconfined.root)
        self.workspace = msgspec.structs.replace(unconfined, sandbox=self.sandbox)
        self.toolsets = toolsets_of(settings, tools, self.workspace, dynamic)
        self._tools_of_hooks = tools_of_hooks(settings.hooks, tools)
        self.accepted = AcceptedTools(database, _now)
        self.background = Background(database, redactor, _now, bus)
        self._new_id = new_id
        self._away = away
        self._database = database
        self._bus = bus
        self._redactor = redactor
        self._metrics = metrics
        self._images = KeptImages(database, _now)
        self._models = Models(
            providers, settings.default.model, RetryPolicy(), redactor.of_output, self._images
        )
        judging = Judging(
            LimitsInForce(settings.limits, stored_in(database), clock.monotonic),
            new_id,
            policy_over(database, tools, clock.monotonic),
            hooks_of(settings, database, new_id, redactor.of_output),
            asking_as(settings, redactor.of_output),
            self.accepted,
        )
        self.policy = judging.policy
        self._limits = judging.limits
        self._pipelines = Pipelines(self.toolsets, judging)

    def make(self, recorder: Recorder, lease: Lease) -> Turn:
        """The turn of one lease."""
        live = LiveText(self._bus, recorder.state.id)
        pipeline = self._pipelines.of(recorder.state)
        caller = Caller(
            recorder.state.id,
            recorder.state.created.owner,
            ScheduleReader(self._database, Schedules(self._database)),
            keeping(self._database, _now),
            self._redactor,
            SideQuestions(recorder, self._models, self._metrics).ask,
            self._images,
            lambda: recorder.state.pins,
            artifacts=WorkstreamArtifacts(self._database, recorder.state.id, _now, self._redactor),
            tasks=WorkstreamTasks(
                self._database, self.background, recorder.state.id, _now, self._new_id
            ),
            parent=recorder.state.created.parent,
            finder=finder_of(pipeline, recorder.state.created.boundary, self._away),
        )
        limits = BatchLimits(self._limits)
        boundary = recorder.state.created.boundary
        workspace = msgspec.structs.replace(pipeline.workspace, boundary=boundary)
        execution = Execution(workspace, limits, live.add, clock.monotonic, caller)
        answering = Answering(
            recorder, self._models, pipeline, live, self._metrics, clock.monotonic
        )
        agents = HookAgents(
            recorder,
            self._models,
            pipeline,
            self._tools_of_hooks,
            caller,
            self._metrics,
            clock.monotonic,
        )
        hearing = Hearing(pipeline, agents.ask)
        return Turn(recorder, lease, hearing, execution, answering, live, self._metrics)


def _now() -> str:
    return clock.rfc3339(clock.now_utc())
