"""Keeps secrets out of texts: every known one in all its forms, others by their shape."""

from collections import deque
from collections.abc import Iterable

from redshank_shared.vault.forms import forms_of
from redshank_shared.vault.shapes import CERTAIN, LIKELY, MASK, masked_shapes
from redshank_shared.vault.wrapped import without_wrapped, wrapped_spans

_PASSING_KEPT = 8


class Redactor:
    """Knows secrets and masks them. What it has learned it never forgets: an old value may still
    stand in a file. Only those that pass give way to their followers.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: frozenset[str] = frozenset()
        self._passing: dict[str, deque[frozenset[str]]] = {}
        self._longest_first: tuple[str, ...] = ()
        self.learn(*secrets)

    def learn(self, *secrets: str) -> None:
        """Know these from now on. Those of fewer than 6 characters are passed over: masking them
        would eat ordinary words.
        """
        forms = {form for secret in secrets for form in forms_of(secret)}
        if not forms <= self._forms:
            self._forms |= forms
            self._sort()

    def learn_passing(self, name: str, secrets: Iterable[str]) -> None:
        """Know what goes by this name now, and went by it the last seven times before: tokens that
        follow one another for years must not make every text slower.
        """
        forms = frozenset(form for secret in secrets for form in forms_of(secret))
        known = self._passing.setdefault(name, deque(maxlen=_PASSING_KEPT))
        if forms not in known:
            known.append(forms)
            self._sort()

    def _sort(self) -> None:
        passing = (forms for known in self._passing.values() for forms in known)
        every = self._forms.union(*passing)
        self._longest_first = tuple(sorted(every, key=len, reverse=True))

    @property
    def forms(self) -> tuple[str, ...]:
        """Every text that is masked, the longest first."""
        return self._longest_first

    def of_known(self, text: str) -> str:
        """The text with every known secret masked."""
        for form in self._longest_first:
            if form in text:
                text = text.replace(form, MASK)
        return without_wrapped(text, self._longest_first, MASK)

    def of_output(self, text: str) -> str:
        """The text with known secrets masked, and whatever is certainly a credential."""
        return masked_shapes(self.of_known(text), CERTAIN)

    def of_log(self, text: str) -> str:
        """The text with known secrets masked, and whatever may be a credential (K62, F12)."""
        return masked_shapes(self.of_output(text), LIKELY)

    def knows(self, text: str) -> bool:
        """Whether a known secret stands in the text."""
        if any(form in text for form in self._longest_first):
            return True
        return any(True for _ in wrapped_spans(text, self._longest_first))
