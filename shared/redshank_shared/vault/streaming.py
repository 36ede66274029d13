"""Masks secrets in a text that comes in pieces: one cut in two does not slip through."""

import asyncio

from redshank_shared.vault.cuts import masked_at_cuts
from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.shapes import BEGINS, KEY_BEGINS, KEY_ENDS
from redshank_shared.vault.wrapped import open_run, wrapped_spans

# A line or a key that grows past this is shown in parts, all of it masked as far as it is known.
MOST_HELD = 16384
_PIECE = 65536
_WHOLE_LINES = 256


async def redacted(redactor: Redactor, text: str) -> str:
    """The text as `Redactor.of_output` has it; a long one in pieces, others go on in between.

    Of a secret that a tool has cut, where it left out a middle, nothing is left.
    """
    if len(text) <= 2 * _PIECE:
        return masked_at_cuts(redactor.of_output(text), redactor.forms)
    stream = RedactedStream(redactor)
    shown = []
    for start in range(0, len(text), _PIECE):
        shown.append(stream.feed(text[start : start + _PIECE]))
        await asyncio.sleep(0)
    return masked_at_cuts("".join((*shown, stream.end())), redactor.forms)


class RedactedStream:
    """One stream of output. A piece may be kept back until what follows shows that it is harmless:
    the last word, the whole last line where a credential may begin in it, a private key, long
    lines of base64.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, text: str) -> str:
        """Take a piece in; what may be shown now."""
        text = self._held + text
        cut = self._safe_until(text)
        if len(text) - cut > MOST_HELD:
            cut = self._before_known(text, len(text) - MOST_HELD // 2)
        self._held = text[cut:]
        return self._redactor.of_output(text[:cut]) if cut else ""

    def end(self) -> str:
        """What was kept back, when nothing more will come."""
        held, self._held = self._held, ""
        return self._redactor.of_output(held)

    def _safe_until(self, text: str) -> int:
        line = max(text.rfind("\n"), text.rfind("\r")) + 1
        word = max(line, text.rfind(" ") + 1, text.rfind("\t") + 1)
        cut = line if BEGINS.search(text, line) else word
        key = text.rfind(KEY_BEGINS)
        if key != -1 and not KEY_ENDS.search(text, key, cut):
            cut = min(cut, key)
        return self._before_known(text, open_run(text, cut, MOST_HELD))

    def _before_known(self, text: str, cut: int) -> int:
        """The cut, moved before any known secret that lies across it, or may begin before it."""
        for form in self._redactor.forms:
            start = text.find(form[0], max(cut - len(form) + 1, 0), cut)
            while start != -1:
                if form.startswith(text[start : start + len(form)]):
                    cut = min(cut, start)
                    break
                start = text.find(form[0], start + 1, cut)
        return self._before_wrapped(text, cut)

    def _before_wrapped(self, text: str, cut: int) -> int:
        forms = self._redactor.forms
        reach = 2 * len(forms[0]) + _WHOLE_LINES if forms else 0
        begin = max(0, cut - reach)
        for first, end in wrapped_spans(text[begin : cut + reach], forms):
            if begin + first < cut < begin + end:
                cut = begin + first
        return cut
