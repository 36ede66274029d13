"""Finds what would be run, removed, overwritten by programs of other languages in a line."""

import re
from collections.abc import Callable, Iterator

from redshank_node.tools.support.danger.called import (
    ENCODED_RUNS,
    Argv,
    Called,
    Finding,
    Script,
)
from redshank_node.tools.support.danger.targets import is_disk
from redshank_node.tools.support.danger.words import ENCODED, HOME, literal, quoted

_MOST_CHARACTERS = 100_000
# Each language's program with the options that a program's text follows.
_LANGUAGES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(python|pypy)[\d.]*"), "c"),
    (re.compile(r"perl[\d.]*"), "eE"),
    (re.compile(r"ruby[\d.]*"), "e"),
    (re.compile(r"node(js)?|bun|deno"), "ep"),
    (re.compile(r"php[\d.]*"), "r"),
    (re.compile(r"(lua(jit)?|osascript)[\d.]*"), "e"),
)
_LITERAL = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
_RUNS = re.compile(
    r"(?<!\w)(?:system|popen\d?|Popen|call|check_call|check_output|run|getoutput|getstatusoutput"
    r"|exec(?:[lv]p?e?|Sync|File(?:Sync)?|a)?|spawn\w*|shell_exec|passthru|proc_open|os\.execute)\s*\(?\s*\[?\s*"
    rf"({_LITERAL}(?:\s*,\s*\[?\s*{_LITERAL})*)"
)
_TICKS = re.compile(r"`([^`]*)`|(?:%x|qx)\s*(?:\(([^)]*)\)|\{([^}]*)\}|\[([^\]]*)\])")
_REMOVES = re.compile(
    r"(?<!\w)(?:rmtree|rm_rf|rm_r|remove_tree|remove_entry_secure|rmSync|rmdirSync|removeSync"
    rf"|emptyDirSync|rimraf|rm)\s*\(?\s*(?:[\w.]+\(\s*)?({_LITERAL})"
)
_WRITES = re.compile(rf"(?<!\w)open\(\s*({_LITERAL})\s*,\s*['\"][rb]*[wa+]")
_BOMB = re.compile(
    r"while\s*\(?\s*(?:True|1|true)\s*\)?\s*[:{]?\s*(?:os\.)?fork\b|fork\s+while\b"
    r"|loop\s*(?:do|\{)\s*fork\b"
)
_AWK_VALUES = ("-F", "-v", "-f")


def findings_in(called: Called) -> Iterator[Finding]:
    """What the program in a call of an interpreter would run, remove, overwrite."""
    code = _code(called)
    if ENCODED in code:
        yield ENCODED_RUNS
    for found in _RUNS.finditer(code):
        words = [_plain(word) for word in re.findall(_LITERAL, found[1])]
        yield Script(words[0])
        yield Argv(tuple(quoted(word) for word in words))
    if not _named(called).startswith(("python", "pypy", "node")):
        for ticks in _TICKS.finditer(code):
            yield Script(next(text for text in ticks.groups() if text is not None))
    for found in _REMOVES.finditer(code):
        path = _plain(found[1])
        yield Argv(("rm", "-rf", HOME + path[1:] if path.startswith("~") else path))
    if any(is_disk(_plain(found[1])) for found in _WRITES.finditer(code)):
        yield "writes onto a disk"
    if _BOMB.search(code):
        yield "is a fork bomb"


def rule(name: str) -> Callable[[Called], Iterator[Finding]] | None:
    """The rule for an interpreter of this name, None where it is none."""
    if name in ("awk", "gawk", "mawk", "nawk"):
        return findings_in
    return findings_in if any(each.fullmatch(name) for each, _ in _LANGUAGES) else None


def _named(called: Called) -> str:
    return literal(called.words[0])


def _code(called: Called) -> str:
    name = _named(called)
    words = [literal(word) for word in called.words[1:]]
    options = next((letters for each, letters in _LANGUAGES if each.fullmatch(name)), None)
    text = _awk(words) if options is None else _given(words, options)
    if text is None:
        file = next((word for word in words if not word.startswith("-")), "-")
        text = called.stdin if file == "-" else called.file(file)
    return (text or "")[:_MOST_CHARACTERS]


def _given(words: list[str], options: str) -> str | None:
    """The text behind an option that takes one."""
    option = re.compile(rf"-[a-zA-Z0-9]*?[{options}](.*)|--(?:eval|print)|eval", re.DOTALL)
    for place, word in enumerate(words):
        if not word.startswith("-") and word != "eval":
            return None
        found = option.fullmatch(word)
        if found:
            return found[1] or "\n".join(words[place + 1 : place + 2])
    return None


def _awk(words: list[str]) -> str | None:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        if rest.pop(0) in _AWK_VALUES and rest:
            rest.pop(0)
    return rest[0] if rest else None


def _plain(text: str) -> str:
    """A literal's text, without its quotes, the most usual escapes read."""
    return re.sub(r"\\(.)", r"\1", text[1:-1])
