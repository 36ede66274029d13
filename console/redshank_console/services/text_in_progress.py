"""Keeps what one watcher has seen of the text in progress free of overlaps."""

import msgspec

from redshank_shared.queue.live import LiveDelta


class TextInProgress:
    """Lets each character through once; a piece behind a hole is held back: the answer has all."""

    def __init__(self) -> None:
        self._shown: dict[tuple[str, str, int], int] = {}
        self._answered = 0

    def fresh(self, delta: LiveDelta) -> LiveDelta | None:
        """What of this piece is new; None if nothing is, or if its step has ended already."""
        if delta.channel != "output" and delta.step < self._answered:
            return None
        key = (delta.channel, delta.call_id, delta.step)
        shown = self._shown.get(key, 0)
        end = delta.offset + len(delta.text)
        if delta.offset > shown or end <= shown:
            return None
        self._shown[key] = end
        if delta.offset == shown:
            return delta
        return msgspec.structs.replace(delta, offset=shown, text=delta.text[shown - delta.offset :])

    def answered(self, seq: int) -> None:
        """An answer of the model has this number: the text of earlier steps is over."""
        self._answered = seq
        self._shown = {key: end for key, end in self._shown.items() if key[0] == "output"}
