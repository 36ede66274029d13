"""Recognises the command lines that nobody means: they wipe a machine, whoever allowed them.

The last fence, not the wall: it reads the line as bash would (`syntax`), follows variables,
folders, loops, functions, pipes, files that the line writes, whatever hands a text or words on to
be run. Of a program in another language it sees what stands there as plain text. Rules, modes and
approvals decide about everything else.
"""

import itertools
from collections.abc import Iterable, Iterator

from redshank_node.tools.support.danger.called import (
    ENCODED_RUNS,
    Called,
    Finding,
    Script,
)
from redshank_node.tools.support.danger.commands import findings, redirected
from redshank_node.tools.support.danger.scope import Scope
from redshank_node.tools.support.danger.syntax import Unreadable, parsed
from redshank_node.tools.support.danger.tools import RUN_VALUES
from redshank_node.tools.support.danger.words import (
    ENCODED,
    HOME,
    MAYBE_EMPTY,
    SOMETHING,
    Function,
    Group,
    Item,
    Loop,
    Simple,
    TooLong,
    Word,
    all_of,
    alternatives,
    as_one,
    fields,
    literal,
    named,
    printed,
    read_by,
    split_text,
)
from redshank_node.tools.support.danger.wrappers import ASSIGNMENT, unwrapped

_DEPTH = 6
_MOST_COMMANDS = 5000
_MOST_WORDS = 500_000
_TOO_MANY = "the line runs too many commands to be judged, write it into a file and run that"
_WRITES = frozenset({">", ">>", ">|", "&>", "&>>", "<>"})


def objection(command: str) -> str | None:
    """Why this command is refused in every mode, naming the part that is meant.

    None for any other (T-20).
    """
    try:
        return _Judge().script(command, Scope(), _DEPTH)
    except TooLong:
        return "a word of the line stands for a text too long to be judged"


class _Judge:
    """One judgement: it ends, however the line is made."""

    def __init__(self) -> None:
        self._left = _MOST_COMMANDS
        self._words_left = _MOST_WORDS

    def script(self, text: str, scope: Scope, depth: int) -> str | None:
        if depth == 0:
            return "nests shells too deeply to be judged"
        try:
            items = parsed(text)
        except Unreadable as unreadable:
            if unreadable.nested:
                return "nests too deeply to be judged"
            items = tuple(unreadable.items)
        return self._items(items, scope, depth)

    def _items(self, items: Iterable[Item], scope: Scope, depth: int) -> str | None:
        for item in items:
            why = self._item(item, scope, depth)
            if why:
                return why
        return None

    def _item(self, item: Item, scope: Scope, depth: int) -> str | None:
        match item:
            case Simple():
                return self._simple(item, scope, depth)
            case Loop():
                values = [field for word in item.values for field in fields(word, scope.variables)]
                if item.name:
                    scope.variables[item.name] = tuple(values) or (SOMETHING,)
                return self._within(item.values, scope, depth)
            case Group():
                return self._items(item.items, scope.inner(), depth)
            case Function():
                if _is_bomb(item):
                    return f"{item.name!r} is a fork bomb"
                scope.functions[item.name] = item.items
                return None

    def _within(self, words: Iterable[Word], scope: Scope, depth: int) -> str | None:
        """What the substitutions of these words run."""
        for word in words:
            for part in word.parts:
                why = self._items(part.items, scope.inner(), depth) if part.items else None
                if why:
                    return why
        return None

    def _simple(self, command: Simple, scope: Scope, depth: int) -> str | None:
        self._left -= 1
        if self._left < 0:
            return _TOO_MANY
        targets = [redirect.target for redirect in command.redirects]
        why = self._within((*command.words, *targets), scope, depth)
        if why:
            return why
        for redirect in command.redirects:
            paths = alternatives(redirect.target, scope.variables)
            for path in paths if redirect.operator in _WRITES else ():
                why = redirected(path, scope.folder, redirect.operator)
                if why:
                    return f"{'> ' + _shown([path])!r} {why}"
        why = self._names(command, scope, depth)
        _remember(command, scope)
        return why

    def _names(self, command: Simple, scope: Scope, depth: int) -> str | None:
        """The command under each name that its first word can stand for."""
        if not command.words:
            return None
        whole = all_of(command.words[0], scope.variables)
        first = alternatives(command.words[0], scope.variables)
        rest = [each for word in command.words[1:] for each in fields(word, scope.variables)]
        if all(ASSIGNMENT.match(text) for text in first):
            return self._called([*map(as_one, first), *rest], command, scope, depth)
        if whole:
            return self._called([*whole, *rest], command, scope, depth)
        for text in first:
            words = [word for word in split_text(text) if word] + rest
            why = self._called(words, command, scope, depth) if words else None
            if why:
                return why
        return None

    def _called(
        self,
        words: list[str],
        command: Simple | None,
        scope: Scope,
        depth: int,
        stdin: str | None = None,
    ) -> str | None:
        self._words_left -= len(words)
        if self._words_left < 0:
            return _TOO_MANY
        words = [_option(word) for word in words]
        inside = unwrapped(words)
        given = list(itertools.takewhile(ASSIGNMENT.match, words))
        scope.assign(given)
        if inside.text:
            return self._followed(words, Script(literal(inside.text)), scope, depth)
        if not inside.words:
            return None
        read = read_by(command, scope.variables) if command is not None else stdin
        body = scope.functions.get(inside.words[0])
        if body is not None:
            inner = scope.inner(inside.words)
            del inner.functions[inside.words[0]]
            return self._items(body, inner, depth)
        if scope.changed_by(list(inside.words), read):
            return None
        folder = inside.folder or scope.folder
        called = Called(inside.words, folder, literal(inside.path), read, scope.files)
        return self._judged(words, called, given, scope, depth)

    def _judged(
        self, words: list[str], called: Called, given: list[str], scope: Scope, depth: int
    ) -> str | None:
        """What the command itself does, with what its environment has it run."""
        if ENCODED in called.words[0]:
            return f"{_shown(words)!r} {ENCODED_RUNS}"
        run_values = [RUN_VALUES.sub("", each) for each in given if RUN_VALUES.match(each)]
        for finding in itertools.chain(map(_script, run_values), findings(called)):
            why = self._followed(words, finding, scope, depth)
            if why:
                return why
        return None

    def _followed(self, words: list[str], finding: Finding, scope: Scope, depth: int) -> str | None:
        if isinstance(finding, str):
            return f"{_shown(words)!r} {finding}"
        if isinstance(finding, Script):
            why = self.script(finding.text, scope.inner(finding.positional), depth - 1)
        elif depth > 1 and finding.words:
            words_inside = list(finding.words)
            why = self._called(words_inside, None, scope.inner(), depth - 1, finding.stdin)
        else:
            return None
        return f"{_shown(words)!r} runs {why}" if why else None


def _script(value: str) -> Script:
    return Script(literal(value))


def _option(word: str) -> str:
    """The word without what is empty before an option's sign."""
    bare = word.lstrip(MAYBE_EMPTY)
    return bare if bare.startswith("-") else word


def _remember(command: Simple, scope: Scope) -> None:
    """Keep what a command writes into files, as far as both can be told."""
    words = named(command, scope.variables)
    paths = [
        (path, redirect.operator)
        for redirect in command.redirects
        if redirect.operator in _WRITES
        for path in alternatives(redirect.target, scope.variables)
    ]
    if words[:1] == ["tee"]:
        paths += [(word, ">") for word in words[1:] if not word.startswith("-")]
    text = printed(command, scope.variables) if paths else None
    for path, operator in paths:
        scope.write(path, text, more=">>" in operator)


def _is_bomb(function: Function) -> bool:
    """Whether it starts itself over and over without waiting."""
    calls = [
        (item, alone)
        for item, alone in _simple_in(function.items)
        if _written_name(item) == function.name
    ]
    loops = any(isinstance(item, Loop) for item in function.items)
    alone = any(call.piped or call.background or apart for call, apart in calls)
    return alone and (len(calls) > 1 or (loops and any(c.background or a for c, a in calls)))


def _simple_in(items: Iterable[Item], alone: bool = False) -> Iterator[tuple[Simple, bool]]:
    """The commands among these, with whether they stand in a group that nobody waits for."""
    for item in items:
        if isinstance(item, Simple):
            yield item, alone
        elif isinstance(item, Group):
            yield from _simple_in(item.items, alone or item.background)


def _written_name(command: Simple) -> str:
    return "".join(part.text for part in command.words[0].parts) if command.words else ""


def _shown(words: Iterable[str]) -> str:
    text = " ".join(literal(word) for word in words)
    shown = ((HOME, "~"), (MAYBE_EMPTY, "$..."), (SOMETHING, "..."), (ENCODED, ""))
    for stand_in, said in shown:
        text = text.replace(stand_in, said)
    return text[:100]
