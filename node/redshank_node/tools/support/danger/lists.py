"""Follows commands that run another on everything that is listed: `find`, `xargs`, `parallel`."""

from collections.abc import Callable, Iterator

from redshank_node.tools.support.danger.called import Argv, Called, Finding, Script, loses
from redshank_node.tools.support.danger.find import RUNS, finds_all, roots_of
from redshank_node.tools.support.danger.words import SOMETHING, literal, quoted

_XARGS_VALUES = "ILnPsdEa"
_CHANGERS = frozenset({"chmod", "chown", "chgrp"})


def _find(called: Called) -> Iterator[Finding]:
    words = called.words
    everything = finds_all([literal(word) for word in words])
    roots = roots_of(words)
    if "-delete" in words and everything:
        yield from loses(list(roots), called.folder, "deletes")
    for place, word in enumerate(words):
        if word in RUNS:
            run = words[place + 1 :]
            end = next((at for at, each in enumerate(run) if each in (";", "+")), len(run))
            for root in roots if everything else ("",):
                yield from _on(run[:end], root)


def _on(run: tuple[str, ...], root: str) -> Iterator[Argv]:
    """What a `find` runs on a folder and on each thing in it."""
    if not root:
        yield Argv(run)
        return
    for found in (root, f"{root.rstrip('/')}/*"):
        words = tuple(_with(each, "{}", found) for each in run)
        yield Argv((*words, "-R") if _CHANGERS.intersection(words) else words)


def _xargs(called: Called) -> Iterator[Finding]:
    rest = list(called.words[1:])
    options: list[str] = []
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if len(option) == 2 and option[1] in _XARGS_VALUES and rest:
            option += rest.pop(0)
        options.append(option)
    text = called.stdin
    if text is None:
        yield Argv((*rest, SOMETHING))
        return
    lines = [line.strip() for line in text.replace("\0", "\n").split("\n") if line.strip()]
    stands_for = _stands_for(options)
    if stands_for:
        yield from (Argv(tuple(_with(word, stands_for, each) for word in rest)) for each in lines)
        return
    whole = any(option.startswith(("-0", "--null", "-d", "--delimiter")) for option in options)
    yield Argv((*rest, *(lines if whole else text.split())))


def _stands_for(options: list[str]) -> str:
    """What each line is put in place of, empty where it comes behind."""
    for option in options:
        if option.startswith(("-I", "--replace", "-i")):
            value = option.partition("=")[2] if option.startswith("--") else option[2:]
            return value or "{}"
    return ""


def _with(word: str, stands_for: str, value: str) -> str:
    """The word with a value in its place, whether that was written in quotes or not."""
    return word.replace(stands_for, value).replace(quoted(stands_for), value)


def _parallel(called: Called) -> Iterator[Finding]:
    """GNU parallel: a line with `{}` in it, what it stands for behind `:::` or read."""
    words = called.words[1:]
    while words and words[0].startswith("-"):
        words = words[1:]
    at = words.index(":::") if ":::" in words else len(words)
    given = words[at + 1 :] or tuple((called.stdin or SOMETHING).split("\n"))
    line = " ".join(literal(word) for word in words[:at])
    for each in given:
        yield Script(line.replace("{}", each) if "{}" in line else f"{line} {each}")


RULES: dict[str, Callable[[Called], Iterator[Finding]]] = {
    "find": _find,
    "xargs": _xargs,
    "parallel": _parallel,
}
