"""Keeps secrets out of texts: every known one in all its forms, others by their shape."""

import base64
import json
from collections import deque
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from redshank_shared.vault.shapes import CERTAIN, LIKELY, MASK, masked_shapes

SHORTEST_SECRET = 6
_SHORTEST_FORM = 8
_SHORTEST_LINE = 16
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
        forms = {form for secret in secrets for form in _forms_of(secret)}
        if not forms <= self._forms:
            self._forms |= forms
            self._sort()

    def learn_passing(self, name: str, secrets: Iterable[str]) -> None:
        """Know what goes by this name now, and went by it the last seven times before: tokens that
        follow one another for years must not make every text slower.
        """
        forms = frozenset(form for secret in secrets for form in _forms_of(secret))
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
        return text

    def of_output(self, text: str) -> str:
        """The text with known secrets masked, and whatever is certainly a credential."""
        return masked_shapes(self.of_known(text), CERTAIN)

    def of_log(self, text: str) -> str:
        """The text with known secrets masked, and whatever may be a credential (K62, F12)."""
        return masked_shapes(self.of_output(text), LIKELY)

    def knows(self, text: str) -> bool:
        """Whether a known secret stands in the text."""
        return any(form in text for form in self._longest_first)


def _forms_of(secret: str) -> set[str]:
    """The secret as it stands in texts, addresses, JSON, base64, hexadecimal."""
    secret = secret.strip()
    if len(secret) < SHORTEST_SECRET:
        return set()
    data = secret.encode(errors="surrogatepass")
    quoted = quote(secret, safe="")
    forms = {
        secret,
        secret.replace("\n", "\r\n"),
        quoted,
        quote_plus(secret),
        quote(secret),
        quoted.replace("%", "%25"),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        secret.replace("'", "'\\''"),
    }
    lowered = {form.replace("%2F", "%2f").replace("%3D", "%3d") for form in forms}
    encoded = {form for shift in range(3) for form in _in_base64(data, shift)}
    encoded |= {data.hex(), data.hex().upper()}
    lines = {line for line in secret.splitlines() if len(line) >= _SHORTEST_LINE}
    longer = {form for form in encoded | lines if len(form) >= _SHORTEST_FORM}
    # The frame of a key in PEM is no secret.
    return {form for form in forms | lowered | longer if not form.startswith("-----END ")} - {
        line for line in lines if line.startswith("-----")
    }


def _in_base64(data: bytes, shift: int) -> set[str]:
    """What the secret looks like inside a longer text in base64, `shift` bytes behind a boundary.

    The characters that it shares with its neighbours are left out.
    """
    encoded = base64.b64encode(b"\0" * shift + data).decode()
    before = (0, 2, 3)[shift]
    whole = (shift + len(data)) // 3 * 4
    inner = encoded[before:whole]
    return {inner, inner.replace("+", "-").replace("/", "_")}
