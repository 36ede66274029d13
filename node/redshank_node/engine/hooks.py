"""Asks the operator's hooks about a call before its decision is final."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from redshank_node.engine.hook_asking import (
    HookFailed,
    HookQuestion,
    answer_of,
    event_on,
    failed_answer,
)
from redshank_node.engine.hook_calls import ask_url
from redshank_node.engine.hook_commands import ask_command
from redshank_shared import clock
from redshank_shared.domain.errors import Invalid, Misconfigured, RedshankError
from redshank_shared.domain.events import Decision
from redshank_shared.permissions.hook_answers import HookAnswer
from redshank_shared.permissions.matching import Subject
from redshank_shared.permissions.rules import Rule, check_pattern
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.settings.hooks import DECISION_SECONDS, Hook, HookAgent
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.database import Database
from redshank_shared.stores.hook_dead_letters import DeadLetter, HookDeadLetters

logger = logging.getLogger(__name__)

_PAUSE_SECONDS = 0.1
_KEPT_CHARACTERS = 16 * 1024

Bury = Callable[[DeadLetter], Awaitable[None]]
# (hook, its agent, question, seconds) -> the agent's answer as JSON text, or HookFailed.
AskAgent = Callable[[Hook, HookAgent, HookQuestion, float], Awaitable[bytes]]


class Heard(msgspec.Struct, frozen=True):
    """What hooks said of a call on which rule and mode had decided so."""

    decision: Decision
    answers: tuple[HookAnswer, ...]


class Hooks:
    """One for a node: the declared hooks in their order. `redact` keeps secrets out of what is kept
    of a failure.
    """

    def __init__(
        self,
        hooks: Sequence[Hook],
        bury: Bury,
        new_id: Callable[[str], str],
        at: Callable[[], str],
        monotonic: Callable[[], float],
        redact: Callable[[str], str],
    ) -> None:
        self.declared = tuple((hook, _patterns(hook)) for hook in hooks)
        self._bury = bury
        self._new_id = new_id
        self._at = at
        self._monotonic = monotonic
        self._redact = redact

    def about(self, decision: Decision, subject: Subject) -> list[Hook]:
        """The hooks that are asked about such a call, in their order (K-41)."""
        event = event_on(decision)
        return [
            hook
            for hook, patterns in self.declared
            if hook.event == event and patterns.match(subject) is not None
        ]

    async def ask(
        self, hooks: Sequence[Hook], question: HookQuestion, ask_agent: AskAgent
    ) -> Heard:
        """What they say, one after another; a block, or what counts as one, stops the later ones.

        Never longer than one time budget for all of them together; a hook whose time is over has
        failed, and its failure policy counts (K-80). `question` says whom it is put to hook by
        hook; hooks that are agents are asked by `ask_agent`.
        """
        ends = self._monotonic() + DECISION_SECONDS
        answers: list[HookAnswer] = []
        for hook in hooks:
            room = min(hook.timeout_seconds, ends - self._monotonic())
            asked = msgspec.structs.replace(question, hook=hook.name)
            answers.append(await self._answer(hook, asked, room, ask_agent))
            if hook.event == "permission_request" and answers[-1].blocks:
                break
        return Heard(question.decision, tuple(answers))

    async def _answer(
        self, hook: Hook, question: HookQuestion, room_seconds: float, ask_agent: AskAgent
    ) -> HookAnswer:
        """Within the room for all attempts; a failure is an answer too."""
        asked, ends = msgspec.json.encode(question), self._monotonic() + room_seconds
        attempts, detail = 0, "no time was left for it: the hooks before took it all"
        while attempts <= hook.retries and (left := ends - self._monotonic()) > 0:
            attempts += 1
            try:
                answer = answer_of(hook, await _said(hook, asked, question, left, ask_agent))
                return msgspec.structs.replace(answer, reason=self._redact(answer.reason))
            except HookFailed as failure:
                detail = failure.detail
                logger.warning("the hook %s failed: %s", hook.name, self._redact(detail))
                if failure.final:
                    break
            if attempts <= hook.retries:
                pause = _PAUSE_SECONDS * 2.0 ** (attempts - 1)
                await asyncio.sleep(max(min(pause, ends - self._monotonic()), 0.0))
        detail = self._redact(detail)
        await self._keep(question, attempts, detail, asked.decode())
        return failed_answer(hook, detail)

    async def _keep(self, question: HookQuestion, attempts: int, detail: str, asked: str) -> None:
        letter = DeadLetter(
            dead_letter_id=self._new_id("hdl"),
            at=self._at(),
            hook=question.hook,
            workstream_id=question.workstream_id,
            call_id=question.call_id,
            attempts=attempts,
            detail=detail,
            payload=self._redact(asked)[:_KEPT_CHARACTERS],
        )
        try:
            await self._bury(letter)
        except RedshankError as error:
            logger.warning("a failed hook is not kept: %s", error.detail)


def hooks_of(
    settings: Settings,
    database: Database,
    new_id: Callable[[str], str],
    redact: Callable[[str], str],
) -> Hooks:
    """The hooks that these settings declare; what fails is kept in this database.

    Misconfigured names a pattern that is none.
    """
    for index, hook in enumerate(settings.hooks):
        for place, pattern in enumerate(hook.tools):
            try:
                check_pattern(pattern, f"hooks[{index}].tools[{place}]")
            except Invalid as wrong:
                raise Misconfigured(
                    f"hook {hook.name}: {wrong.detail}", field=wrong.field
                ) from wrong

    def at() -> str:
        return clock.rfc3339(clock.now_utc())

    return Hooks(settings.hooks, burying(database), new_id, at, clock.monotonic, redact)


def burying(database: Database) -> Bury:
    """Keeps dead letters in this database."""
    letters = HookDeadLetters(database)

    async def bury(letter: DeadLetter) -> None:
        await database.run(letters.add, letter)

    return bury


async def _said(
    hook: Hook, asked: bytes, question: HookQuestion, left_seconds: float, ask_agent: AskAgent
) -> bytes:
    if hook.agent is not None:
        return await ask_agent(hook, hook.agent, question, left_seconds)
    if hook.command:
        return await ask_command(hook.command, asked, left_seconds)
    return await ask_url(hook, asked, question.idempotency_key, left_seconds)


def _patterns(hook: Hook) -> RuleSet:
    return RuleSet(Rule(pattern, "ask", "session") for pattern in hook.tools)
