"""Recent states by workstream, so that only what is newer is loaded."""

import threading
from collections import OrderedDict

from redshank_shared.domain.errors import NotFound
from redshank_shared.domain.events import Recorded
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.workstream import Workstream, advance
from redshank_shared.stores.event_log import EventLog


class Folds:
    """A bounded number of folded logs, least recently used out first. Never the truth: each load
    asks the log.
    """

    def __init__(self, log: EventLog, keep: int = 256) -> None:
        self._log = log
        self._keep = keep
        # PostgreSQL is asked from several threads, which all keep their states here.
        self._lock = threading.Lock()
        self._states: OrderedDict[WorkstreamId, Workstream] = OrderedDict()

    def load(self, workstream_id: WorkstreamId) -> Workstream:
        """The state as the log says now; NotFound where there is no such workstream."""
        state = self.known(workstream_id)
        state = advance(state, self._log.read(workstream_id, after=state.version))
        if state.version == 0:
            raise NotFound(
                f"there is no workstream {workstream_id}; list them with GET /v1/workstreams",
                code="workstream_not_found",
                field="id",
            )
        self.keep(state)
        return state

    def known(self, workstream_id: WorkstreamId) -> Workstream:
        """The state kept here, possibly old, or the empty one at version 0."""
        return self._states.get(workstream_id) or Workstream(id=workstream_id)

    def caught_up(self, state: Workstream, newer: list[Recorded]) -> Workstream:
        """The state with these newer facts, kept."""
        state = advance(state, newer)
        self.keep(state)
        return state

    def keep(self, state: Workstream) -> None:
        """Remember a state that was committed, unless a newer one is kept already."""
        with self._lock:
            kept = self._states.get(state.id)
            if kept is None or kept.version <= state.version:
                self._states[state.id] = state
            self._states.move_to_end(state.id)
            while len(self._states) > self._keep:
                self._states.popitem(last=False)
