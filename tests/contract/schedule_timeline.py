"""One schedule lived through moment by moment, with a clock that is told the time."""

from collections import deque

from redshank_shared.domain.cadence import Cadence
from redshank_shared.domain.errors import Conflict
from redshank_shared.domain.recurrence import (
    Policy,
    Recurrence,
    Step,
    begin,
    cancel,
    due,
    pause,
    resume,
    trigger,
)


class Timeline:
    """Keeps what the due clock would keep in the database; runs have the lengths that it is given.
    `started` holds when runs began, `skipped` the due times recorded as skipped.
    """

    def __init__(
        self, cadence: Cadence, policy: Policy, born: float, run_seconds: float | list[float]
    ) -> None:
        self.now = born
        self.recurrence: Recurrence = begin(cadence, policy, born)
        self.started: list[float] = []
        self.skipped: list[float] = []
        self.refusals: list[Conflict] = []
        self._lengths = deque(run_seconds) if isinstance(run_seconds, list) else None
        self._length = 0.0 if isinstance(run_seconds, list) else run_seconds
        self._ends: list[float] = []
        self._queued = 0
        self._up = True

    def go_on_to(self, moment: float) -> None:
        """Everything that happens up to this moment, a due time that falls on it included."""
        while (upcoming := self._upcoming()) is not None and upcoming <= moment:
            self.now = max(self.now, upcoming)
            self._settle()
            self._claim()
        self.now = moment

    def meet(self, event: str) -> None:
        """What happens to the schedule or to its nodes at the present moment."""
        match event:
            case "down":
                self._up = False
            case "up":
                self._up = True
                self.go_on_to(self.now)
            case "pause":
                self.recurrence = pause(self.recurrence, self.now)
            case "resume":
                self._asked_to_resume()
            case "cancel":
                self.recurrence = cancel(self.recurrence)
            case "trigger":
                self._keep(trigger(self.recurrence, self.now, **self._runs()))
            case "restart" | "kill-between-claim-and-advance" | "end":
                # Run and due time are kept in one transaction, so nothing lies between them; what
                # is kept is asked again.
                self.go_on_to(self.now)

    def _asked_to_resume(self) -> None:
        try:
            self.recurrence = resume(self.recurrence, self.now)
        except Conflict as refusal:
            self.refusals.append(refusal)

    def _upcoming(self) -> float | None:
        moments = list(self._ends)
        if self._up and self.recurrence.next_due is not None:
            moments.append(self.recurrence.next_due)
        return min(moments, default=None)

    def _settle(self) -> None:
        self._ends = [end for end in self._ends if end > self.now]
        if self._queued and not self._ends:
            self._queued -= 1
            self._start()

    def _claim(self) -> None:
        if self._up:
            self._keep(due(self.recurrence, self.now, **self._runs()))

    def _runs(self) -> dict[str, bool]:
        return {"open_run": bool(self._ends), "queued_run": bool(self._queued)}

    def _keep(self, step: Step) -> None:
        self.recurrence = step.after
        for run in step.runs:
            if run.outcome == "claimed":
                self._start()
            elif run.outcome == "queued":
                self._queued += 1
            else:
                self.skipped.append(run.due_at)

    def _start(self) -> None:
        self.started.append(self.now)
        length = self._lengths.popleft() if self._lengths else self._length
        if length > 0:
            self._ends.append(self.now + length)
