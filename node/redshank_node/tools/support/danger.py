"""Recognises the command lines that nobody means: they wipe a machine, whoever allowed them.

The last fence, not the wall: it reads the line as bash would (`danger_syntax`), follows variables,
folders, loops, functions, pipes, whatever hands a text or words on to be run. What a program of
another language does it cannot see. Rules, modes and approvals decide about everything else.
"""

import itertools
import posixpath
from collections.abc import Iterable, Iterator, Sequence

from redshank_node.tools.support.danger_commands import (
    DECODERS,
    Called,
    Finding,
    Script,
    findings,
    finds_all,
    roots_of,
)
from redshank_node.tools.support.danger_syntax import Unreadable, parsed
from redshank_node.tools.support.danger_targets import is_disk
from redshank_node.tools.support.danger_words import (
    HOME,
    KNOWN,
    MAYBE_EMPTY,
    SOMETHING,
    Function,
    Group,
    Item,
    Loop,
    Simple,
    Variables,
    Word,
    alternatives,
    as_one,
    fields,
    is_unknown,
    literal,
    printed,
    split_text,
)
from redshank_node.tools.support.danger_wrappers import ASSIGNMENT, unwrapped

_DEPTH = 6
_MOST_COMMANDS = 5000
_LONGEST_PIPE = 16
_WRITES = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})
_DECLARE = frozenset({"export", "declare", "local", "readonly", "typeset"})
_READ = frozenset({"read", "mapfile", "readarray", "getopts"})


def objection(command: str) -> str | None:
    """Why this command is refused in every mode, naming the part that is meant.

    None for any other (T-20).
    """
    return _Judge().script(command, _Scope(), _DEPTH)


class _Scope:
    """What a shell knows at a place of the line."""

    def __init__(self) -> None:
        self.folder = ""
        self.variables = dict(KNOWN)
        self.functions: dict[str, tuple[Item, ...]] = {}

    def inner(self, positional: Iterable[str] = ()) -> "_Scope":
        """A shell below this one, with its own `$0`, `$1` and so on."""
        scope = _Scope()
        scope.folder = self.folder
        scope.variables = dict(self.variables)
        scope.functions = dict(self.functions)
        given = tuple(literal(word) for word in positional)
        for number, value in enumerate(given):
            scope.variables[str(number)] = (value,)
        if given[1:]:
            scope.variables["@"] = scope.variables["*"] = given[1:]
        return scope

    def enter(self, words: list[str]) -> None:
        operands = [word for word in words[1:] if not word.startswith("-") or word == "-"]
        target = operands[0] if operands else HOME
        if words[0] == "popd" or target == "-" or is_unknown(target):
            self.folder = SOMETHING
        elif target.startswith("/"):
            self.folder = posixpath.normpath(target)
        elif self.folder:
            self.folder = posixpath.normpath(posixpath.join(self.folder, target))

    def assign(self, words: Iterable[str]) -> None:
        """Take over what stands as NAME=VALUE; a name that comes twice can be either."""
        given: dict[str, list[str]] = {}
        for word in words:
            name, equals, value = literal(word).partition("=")
            if equals:
                value = HOME + value[1:] if value.startswith("~") else value
                # What the line itself gives a value is not simply unset.
                given.setdefault(name.rstrip("+"), []).append(value.replace(MAYBE_EMPTY, SOMETHING))
        self.variables.update({name: tuple(values) for name, values in given.items()})


class _Judge:
    """One judgement: it ends, however the line is made."""

    def __init__(self) -> None:
        self._left = _MOST_COMMANDS

    def script(self, text: str, scope: _Scope, depth: int) -> str | None:
        if depth == 0:
            return "nests shells too deeply to be judged"
        try:
            items = parsed(text)
        except Unreadable as unreadable:
            if unreadable.nested:
                return "nests too deeply to be judged"
            items = tuple(unreadable.items)
        return self._items(items, scope, depth)

    def _items(self, items: Iterable[Item], scope: _Scope, depth: int) -> str | None:
        for item in items:
            why = self._item(item, scope, depth)
            if why:
                return why
        return None

    def _item(self, item: Item, scope: _Scope, depth: int) -> str | None:
        match item:
            case Simple():
                return self._simple(item, scope, depth)
            case Loop():
                values = [field for word in item.values for field in fields(word, scope.variables)]
                scope.variables[item.name] = tuple(values) or (SOMETHING,)
                return self._within(item.values, scope, depth)
            case Group():
                return self._items(item.items, scope.inner(), depth)
            case Function():
                if _is_bomb(item):
                    return f"{item.name!r} is a fork bomb"
                scope.functions[item.name] = item.items
                return None

    def _within(self, words: Iterable[Word], scope: _Scope, depth: int) -> str | None:
        """What the substitutions of these words run."""
        for word in words:
            for part in word.parts:
                why = self._items(part.items, scope.inner(), depth) if part.items else None
                if why:
                    return why
        return None

    def _simple(self, command: Simple, scope: _Scope, depth: int) -> str | None:
        self._left -= 1
        if self._left < 0:
            return "the line runs too many commands to be judged, write it into a file and run that"
        targets = [redirect.target for redirect in command.redirects]
        why = self._within((*command.words, *targets), scope, depth)
        if why:
            return why
        for redirect in command.redirects:
            paths = alternatives(redirect.target, scope.variables)
            if redirect.operator in _WRITES and any(is_disk(path) for path in paths):
                return f"{'> ' + _shown(paths)!r} writes onto a disk"
        return self._names(command, scope, depth)

    def _names(self, command: Simple, scope: _Scope, depth: int) -> str | None:
        """The command under each name that its first word can stand for."""
        if not command.words:
            return None
        first = alternatives(command.words[0], scope.variables)
        rest = [each for word in command.words[1:] for each in fields(word, scope.variables)]
        if all(ASSIGNMENT.match(text) for text in first):
            scope.assign(as_one(text) for text in first)
            return self._called(rest, command, scope, depth) if rest else None
        for text in first:
            words = [word for word in split_text(text) if word] + rest
            why = self._called(words, command, scope, depth) if words else None
            if why:
                return why
        return None

    def _called(
        self, words: list[str], command: Simple | None, scope: _Scope, depth: int
    ) -> str | None:
        inside = unwrapped(words)
        scope.assign(itertools.takewhile(ASSIGNMENT.match, words))
        if inside.text:
            return self._followed(words, Script(literal(inside.text)), scope, depth)
        if not inside.words or _changes_scope(list(inside.words), scope):
            return None
        body = scope.functions.get(inside.words[0])
        if body is not None:
            inner = scope.inner(inside.words)
            del inner.functions[inside.words[0]]
            return self._items(body, inner, depth)
        called = _called(inside.words, inside.folder or scope.folder, command, scope.variables)
        for finding in findings(called):
            why = self._followed(words, finding, scope, depth)
            if why:
                return why
        return None

    def _followed(
        self, words: list[str], finding: Finding, scope: _Scope, depth: int
    ) -> str | None:
        if isinstance(finding, str):
            return f"{_shown(words)!r} {finding}"
        if isinstance(finding, Script):
            why = self.script(finding.text, scope.inner(finding.positional), depth - 1)
        elif depth > 1 and finding.words:
            why = self._called(list(finding.words), None, scope.inner(), depth - 1)
        else:
            return None
        return f"{_shown(words)!r} runs {why}" if why else None


def _changes_scope(words: list[str], scope: _Scope) -> bool:
    name = words[0]
    if name in ("cd", "pushd", "popd"):
        scope.enter(words)
    elif name in _DECLARE:
        scope.assign(words[1:])
    elif name in _READ:
        scope.variables.update({word: (SOMETHING,) for word in words[1:]})
    elif name == "set" and "--" in words:
        scope.variables.update(scope.inner(words[words.index("--") :]).variables)
    else:
        return False
    return True


def _called(
    words: tuple[str, ...], folder: str, command: Simple | None, variables: Variables
) -> Called:
    """The command with what comes to it through pipes, documents, substitutions."""
    if command is None:
        return Called(words, folder)
    source = tuple(_words(command.source, variables)) if command.source else ()
    return Called(
        words,
        folder,
        stdin=_input(command, variables),
        encoded=bool(DECODERS.intersection(source[:1])),
        decodes=any(
            DECODERS.intersection(_words(last, variables)[:1])
            for word in command.words
            for part in word.parts
            if (last := _last(part.items))
        ),
        listed=roots_of(source) if source[:1] == ("find",) and finds_all(source) else (),
    )


def _input(command: Simple, variables: Variables) -> str | None:
    """The text that a command reads, through any number of `cat`; None where nobody can tell."""
    reader: Simple | None = command
    for _ in range(_LONGEST_PIPE):
        if reader is None:
            break
        for redirect in reversed(reader.redirects):
            if redirect.operator in ("<<", "<<<"):
                texts = alternatives(redirect.target, variables)
                return "\n".join(literal(text) for text in texts)
        source = reader.source
        if source is None:
            return None
        text = printed(source, variables)
        if text is not None:
            return text
        reader = source if _words(source, variables) in (["cat"], ["cat", "-"]) else None
    return None


def _words(command: Simple, variables: Variables) -> list[str]:
    words = [each for word in command.words for each in fields(word, variables)]
    return list(unwrapped(words).words)


def _last(items: Sequence[Item]) -> Simple | None:
    last = items[-1] if items else None
    return last if isinstance(last, Simple) else None


def _is_bomb(function: Function) -> bool:
    """Whether it starts itself twice over without waiting."""
    calls = [item for item in _simple_in(function.items) if _written_name(item) == function.name]
    return len(calls) > 1 and any(call.piped or call.background for call in calls)


def _simple_in(items: Iterable[Item]) -> Iterator[Simple]:
    for item in items:
        if isinstance(item, Simple):
            yield item
        elif isinstance(item, Group):
            yield from _simple_in(item.items)


def _written_name(command: Simple) -> str:
    return "".join(part.text for part in command.words[0].parts) if command.words else ""


def _shown(words: Iterable[str]) -> str:
    text = " ".join(literal(word) for word in words)
    for stand_in, said in ((HOME, "~"), (MAYBE_EMPTY, "$..."), (SOMETHING, "...")):
        text = text.replace(stand_in, said)
    return text[:100]
