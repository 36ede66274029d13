"""Tells a turn as it happens: the answer's text as data, all else as lines for the reader."""

from collections.abc import Callable

from redshank_shared.client.stream import Frame, Streamed
from redshank_shared.domain.artifact_events import AssetPart, OutputEmitted, TextPart
from redshank_shared.domain.events import (
    AnyFact,
    ApprovalRequested,
    CallFinished,
    CallInterrupted,
    MessageAnswered,
    Recorded,
    TurnFailed,
    WaitFor,
)
from redshank_shared.domain.question_events import QuestionAsked

LONGEST_LINE = 160


class Teller:
    """Takes frames in order; `answer` is the text of the model's last whole answer."""

    def __init__(self, write: Callable[[str], None], say: Callable[[str], None]) -> None:
        self._write = write
        self._say = say
        self._shown = 0
        self._settled = 0
        self.answer = ""

    def take(self, frame: Frame) -> None:
        """Tell what this frame adds; a frame that adds nothing tells nothing."""
        if isinstance(frame, Streamed):
            self._take_piece(frame)
        elif isinstance(frame, Recorded):
            self._take_fact(frame.seq, frame.fact)

    def _take_piece(self, piece: Streamed) -> None:
        if piece.channel != "text" or piece.step < self._settled or piece.offset > self._shown:
            return
        fresh = piece.text[self._shown - piece.offset :]
        self._write(fresh)
        self._shown += len(fresh)

    def _take_fact(self, seq: int, fact: AnyFact) -> None:
        match fact:
            case MessageAnswered():
                self._take_answer(seq, fact)
            case CallFinished():
                outcome = fact.outcome if not fact.is_error else f"{fact.outcome}: {fact.output}"
                self._say(_short(f"< {fact.tool} {outcome} ({fact.duration_ms} ms)"))
            case CallInterrupted():
                self._say(f"< {fact.tool} interrupted on {fact.node}: its outcome is unknown")
            case ApprovalRequested():
                self._say(_short(f"? {fact.tool} waits for a person: {fact.preview.title}"))
            case QuestionAsked():
                self._say(_short(f"? the agent asks: {fact.questions[0].text}"))
            case OutputEmitted():
                self._take_output(fact)
            case TurnFailed():
                self._say(f"failed ({fact.code}): {fact.detail}")
            case _:
                pass

    def _take_answer(self, seq: int, answer: MessageAnswered) -> None:
        rest = answer.text[self._shown :]
        if answer.text:
            self._write(rest if rest.endswith("\n") else f"{rest}\n")
            self.answer = answer.text
        self._shown, self._settled = 0, seq
        for call in answer.calls:
            self._say(_short(f"> {call.tool} {call.arguments}"))

    def _take_output(self, output: OutputEmitted) -> None:
        """What a tool says in place of an answer, with the names of what comes along."""
        texts = [part.text for part in output.parts if isinstance(part, TextPart)]
        for text in texts:
            self._write(text if text.endswith("\n") else f"{text}\n")
        for part in output.parts:
            if isinstance(part, AssetPart):
                self._say(f"+ {part.media_type} {part.size} bytes: {part.asset_id}")
        if texts and output.final:
            self.answer = "\n\n".join(texts)


def waits_for_a_person(waiting_for: tuple[WaitFor, ...]) -> bool:
    """Whether nothing goes on until somebody answers."""
    return any(wait.kind in ("approval", "question", "budget") for wait in waiting_for)


def _short(line: str) -> str:
    flat = " ".join(line.split())
    return flat if len(flat) <= LONGEST_LINE else f"{flat[: LONGEST_LINE - 1]}…"
