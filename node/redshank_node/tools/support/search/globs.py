"""Matches relative paths against glob patterns, in time that grows with their lengths alone."""

import itertools
import re
from collections.abc import Callable, Iterator

from redshank_node.tools.tool import BadArguments

_LONGEST = 4096
_MOST_CHOICES = 256
_MOST_CHARACTERS = 16384
# What stands for itself, for one character, for choices, for what stars mean.
_PARTS = re.compile(
    r"\\.|\*\*+|\*|\?|\[[!^]?\](?:\\.|[^\]\\/])*\]|\[(?:\\.|[^\]\\/])+\]|.", re.DOTALL
)
_IN_A_CLASS = re.compile(r"(\\.|.)(?:-(\\.|[^\\]))?", re.DOTALL)


def glob_match(pattern: str, argument: str = "pattern") -> Callable[[str], bool]:
    """Whether a path matches: `*` and `?` within a name, `**` across folders, `[...]`, `{a,b}`;
    a backslash takes what follows it as it is.

    A pattern without a slash is matched with the last name of the path. Raises BadArguments that
    names the argument.
    """
    if len(pattern) > _LONGEST:
        raise BadArguments(f"{argument} has more than {_LONGEST} characters; name less")
    anywhere = "/" not in pattern
    try:
        choices = _meant(pattern.removeprefix("./").removeprefix("/"), anywhere)
        compiled = re.compile("|".join(_regex(each.split("/")) for each in choices), re.DOTALL)
    except (re.error, _TooMany) as error:
        raise BadArguments(
            f"{argument} is no glob pattern ({error}); write it like '**/*.py'"
        ) from None
    return lambda path: bool(compiled.fullmatch(path.rpartition("/")[2] if anywhere else path))


class _TooMany(Exception):
    """More choices than can be looked through."""

    def __init__(self) -> None:
        super().__init__("its braces and stars stand for too many patterns")


def _meant(pattern: str, anywhere: bool) -> list[str]:
    """The patterns without braces, with `**` only as a whole name, that this one stands for."""
    if pattern.count("{") > _MOST_CHOICES:
        raise _TooMany
    choices = _choices(pattern)
    if not anywhere:
        spread = (each for choice in choices for each in _spread(choice))
        choices = list(itertools.islice(spread, _MOST_CHOICES + 1))
    if len(choices) > _MOST_CHOICES or sum(map(len, choices)) > _MOST_CHARACTERS:
        raise _TooMany
    return choices


def _choices(pattern: str) -> list[str]:
    """The patterns without braces that this one stands for; an open brace without its end, or one
    around nothing, is a character like others.
    """
    begin = 0
    while (begin := _next(pattern, "{", begin)) >= 0:
        ends = _ends(pattern, begin)
        if len(ends) > 1 or (ends and ends[-1] > begin + 1):
            break
        begin += 1
    if begin < 0:
        return [pattern]
    marks = [begin, *ends]
    inner = [
        choice
        for left, right in itertools.pairwise(marks)
        for choice in _choices(pattern[left + 1 : right])
    ]
    behind = _choices(pattern[marks[-1] + 1 :])
    if len(inner) * len(behind) > _MOST_CHOICES:
        raise _TooMany
    return [pattern[:begin] + each + rest for each in inner for rest in behind]


def _ends(pattern: str, begin: int) -> list[int]:
    """Where the choices of the brace at `begin` end: its commas, then its own end; () without."""
    depth, found = 0, []
    place = begin
    while (place := _next(pattern, "{},", place)) >= 0:
        mark = pattern[place]
        depth += {"{": 1, "}": -1, ",": 0}[mark]
        if depth == 1 and mark == ",":
            found.append(place)
        elif depth == 0:
            return [*found, place]
        place += 1
    return []


def _next(pattern: str, marks: str, begin: int) -> int:
    """The place of the next of these marks that no backslash takes as it is, or -1."""
    place = begin
    while place < len(pattern):
        if pattern[place] == "\\":
            place += 1
        elif pattern[place] in marks:
            return place
        place += 1
    return -1


def _spread(pattern: str) -> Iterator[str]:
    """A `**` beside other characters of a name stands for any of the name, or for folders too."""
    parts = pattern.split("/")
    for index, part in enumerate(parts):
        tokens = _PARTS.findall(part)
        stars = [place for place, token in enumerate(tokens) if token.startswith("**")]
        if stars and len(tokens) > 1:
            left, right = "".join(tokens[: stars[0]]), "".join(tokens[stars[0] + 1 :])
            before, behind = "/".join(parts[:index]), "/".join(parts[index + 1 :])
            for each in (f"{left}*{right}", f"{left}*/**/*{right}"):
                yield from _spread("/".join(filter(None, (before, each, behind))))
            return
    yield pattern


def _regex(names: list[str]) -> str:
    """The names of a pattern as an expression that never tries a part of a path twice: what stands
    between two stars is taken where it fits first, which is always as good as later.
    """
    if names[-1] == "**":
        names = [*names, "*"]
    runs: list[list[str]] = [[]]
    for name in names:
        if name == "**":
            runs.append([])
        else:
            runs[-1].append(name)
    first, *others = ["/".join(map(_name, run)) for run in runs]
    if not others:
        return first
    *between, last = others
    begin = f"{first}/" if first else ""
    middle = "".join(f"(?>(?:[^/]+/)*?{run}/)" for run in between if run)
    return f"{begin}{middle}(?:[^/]+/)*{last}"


def _name(pattern: str) -> str:
    """One name of a path."""
    fixed = [""]
    for token in _PARTS.findall(pattern):
        if token.startswith("*"):
            fixed.append("")
        else:
            fixed[-1] += _character(token)
    first, *others = fixed
    if not others:
        return first
    *between, last = others
    middle = "".join(f"(?>[^/]*?{each})" for each in between if each)
    return f"(?>{first}{middle}[^/]*{last}(?=/|\\Z))"


def _character(token: str) -> str:
    if token == "?":
        return "[^/]"
    if token[0] == "[" and len(token) > 2:
        refuses = token[1] in "!^" and len(token) > 3
        inner = "".join(map(_of_class, _IN_A_CLASS.finditer(token[1 + refuses : -1])))
        return f"[^/{inner}]" if refuses else f"(?!/)[{inner}]"
    return re.escape(token[1:] if len(token) == 2 and token[0] == "\\" else token)


def _of_class(found: re.Match[str]) -> str:
    """A character or a range of a class."""
    ends = [re.escape(each[-1]) for each in found.groups() if each]
    return "-".join(ends)
