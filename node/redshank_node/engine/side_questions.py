"""Puts a tool's own question to the workstream's model, beside the conversation."""

import asyncio
import logging

from redshank_node.engine.answering import Models
from redshank_node.engine.recorder import Recorder
from redshank_node.engine.usage import record_usage
from redshank_node.providers.provider import Delta, ModelFailed, ModelRequest, Surface
from redshank_node.providers.retry import ask
from redshank_node.tools.tool import NoAnswer
from redshank_shared.domain.messages import UserMessage
from redshank_shared.metrics import Metrics

logger = logging.getLogger(__name__)

SECONDS = 90.0
_NO_TOOLS = Surface("none", ())


class SideQuestions:
    """Questions of one turn's calls. The model sees nothing of the conversation, has no tools."""

    def __init__(self, recorder: Recorder, models: Models, metrics: Metrics) -> None:
        self._recorder = recorder
        self._models = models
        self._metrics = metrics
        self._asked = 0

    async def ask(self, instruction: str, text: str) -> str:
        """The model's answer to this text. NoAnswer where it fails, or takes longer than 90 s.

        What it used is recorded, whatever becomes of the call (F47). Stops when its task does.
        """
        state = self._recorder.state
        self._asked += 1
        try:
            provider = self._models.of(state)
            request = ModelRequest(
                # Kept bytes go by the conversation: none of this belongs to the workstream's.
                conversation=f"{state.id}.aside{self._asked}.{state.version}",
                system=instruction,
                messages=(UserMessage(state.version, text),),
                surface=_NO_TOOLS,
            )
            async with asyncio.timeout(SECONDS):
                answer = await ask(
                    provider,
                    request,
                    policy=self._models.policy,
                    on_delta=_unseen,
                    on_retry=lambda failure, _: self._metrics.model_failed(provider.settings.name),
                )
        except TimeoutError as error:
            raise NoAnswer(f"the model gave no answer within {SECONDS:g} s") from error
        except ModelFailed as failure:
            said = self._models.redact(failure.detail)
            logger.warning("a tool's question has no answer in %s: %s", state.id, said)
            raise NoAnswer(said) from failure
        await record_usage(self._recorder, self._metrics, provider.settings.name, answer)
        if not answer.text.strip():
            raise NoAnswer("the model said nothing")
        return answer.text


def _unseen(_: Delta) -> None:
    """The answer is for the tool: watchers see what the call gives."""
