"""Which of a scope's rules speaks for a call: the most specific one."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

import msgspec

from redshank_shared.domain.events import Effect
from redshank_shared.permissions.rules import Rule

# A rule with its place: a hook's update stands before all others (K-40), then the order in which
# they were inserted.
_Placed = tuple[int, Rule]


class Subject(msgspec.Struct, frozen=True):
    """What a rule is matched against: every name a tool has, so that no deny is dodged through an
    alias. A name with the call's label stands among them as `name:label`; the first is the name
    that a person knows the tool by. `insisted`: a person is asked about it whatever allows the
    tool, unless a rule names the label: it leads into a private network (T-30), or asks for the
    network on behalf of a command.
    """

    names: tuple[str, ...]
    effect: Effect
    insisted: bool = False


class Tier:
    """The rules of one scope, laid out once, so that a match costs no walk through them."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._labelled = _Names()
        self._plain = _Names()
        self._effects: dict[str, _Placed] = {}
        self._star: _Placed | None = None
        ordered = sorted(rules, key=lambda rule: rule.origin != "hook_update")
        for placed in enumerate(ordered):
            self._lay(placed)
        self._labelled.close()
        self._plain.close()

    def _lay(self, placed: _Placed) -> None:
        """Of rules with the same pattern the first in place stays (K-39)."""
        pattern = placed[1].pattern
        if pattern == "*":
            self._star = self._star or placed
        elif pattern.startswith("@"):
            self._effects.setdefault(pattern[1:], placed)
        else:
            names = self._labelled if ":" in pattern else self._plain
            names.lay(pattern, placed)

    def match(self, names: Sequence[str], labelled: Sequence[str], effect: Effect) -> Rule | None:
        """The most specific rule: a name with its label, a name, the longest prefix, the effect,
        then `*` (K-39, O14, O24); None where none matches.
        """
        placed = self._labelled.match(labelled) if labelled else None
        placed = placed or self._plain.match(names) or self._effects.get(effect) or self._star
        return placed[1] if placed else None


class _Names:
    """Exact names before prefixes, longer prefixes before shorter ones. What a person allowed is
    one call's name to the letter: an agent may have chosen an address that ends in `*` (T-14).
    """

    def __init__(self) -> None:
        self._exact: dict[str, _Placed] = {}
        self._by_prefix: dict[str, _Placed] = {}
        self._prefixes: list[str] = []
        self._wider: dict[str, str | None] = {}

    def lay(self, pattern: str, placed: _Placed) -> None:
        if pattern.endswith("*") and placed[1].origin != "approval":
            self._by_prefix.setdefault(pattern[:-1], placed)
        else:
            self._exact.setdefault(pattern, placed)

    def close(self) -> None:
        """Sorted, a name's nearest smaller neighbour either is its longest prefix or lies within
        it, so that the way over `wider` finds it.
        """
        self._prefixes = sorted(self._by_prefix)
        around: list[str] = []
        for prefix in self._prefixes:
            while around and not prefix.startswith(around[-1]):
                around.pop()
            self._wider[prefix] = around[-1] if around else None
            around.append(prefix)

    def match(self, names: Sequence[str]) -> _Placed | None:
        exact = [self._exact[name] for name in names if name in self._exact]
        if exact:
            return min(exact, key=_before)
        if not self._prefixes:
            return None
        found = {prefix for prefix in map(self._longest, names) if prefix is not None}
        if not found:
            return None
        longest = max(map(len, found))
        return min((self._by_prefix[each] for each in found if len(each) == longest), key=_before)

    def _longest(self, name: str) -> str | None:
        at = bisect_right(self._prefixes, name)
        prefix = self._prefixes[at - 1] if at else None
        while prefix is not None and not name.startswith(prefix):
            prefix = self._wider[prefix]
        return prefix


def _before(placed: _Placed) -> tuple[bool, int]:
    """Among equally specific rules on two names of one tool a deny speaks first, so that a deny
    written for any of them holds for all.
    """
    return placed[1].decision != "deny", placed[0]
