"""Recognises the command lines that nobody means: they wipe a machine, whoever allowed them.

The last fence, not the wall: it reads the line as bash would (`danger_syntax`), follows variables,
folders, loops, functions, pipes, whatever hands a text or words on to be run. What a program of
another language does it cannot see. Rules, modes and approvals decide about everything else.
"""

import posixpath
from collections.abc import Iterable

from redshank_node.tools.support.danger_commands import (
    DECODERS,
    Argv,
    Called,
    Finding,
    Script,
    finds_all,
    findings,
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
    Word,
    alternatives,
    fields,
    is_unknown,
    literal,
    printed,
)
from redshank_node.tools.support.danger_wrappers import unwrapped

_DEPTH = 8
_MOST_COMMANDS = 5000
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
        given = tuple(positional)
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

    def assign(self, word: str) -> None:
        name, equals, value = word.partition("=")
        if not equals:
            return
        name = name.rstrip("+")
        if value.startswith("~"):
            value = HOME + value[1:]
        # What the line itself gives a value is not simply unset.
        self.variables[name] = (value.replace(MAYBE_EMPTY, SOMETHING),)


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
            return "the line runs too many commands to be judged"
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
        rest = [each for word in command.words[1:] for each in fields(word, scope.variables)]
        for name in alternatives(command.words[0], scope.variables):
            first = fields(_plain(name), scope.variables)
            words = [word for word in first if word] + rest
            why = self._called(words, command, scope, depth) if words else None
            if why:
                return why
        return None

    def _called(
        self, words: list[str], command: Simple | None, scope: _Scope, depth: int
    ) -> str | None:
        inside = unwrapped(words)
        for word in words:
            if "=" not in word:
                break
            scope.assign(word)
        if inside.text:
            return self._followed(words, Script(inside.text), scope, depth)
        if not inside.words or self._changes_scope(list(inside.words), scope):
            return None
        name = inside.words[0]
        body = scope.functions.get(name)
        if body is not None and depth > 1:
            return self._items(body, scope.inner(inside.words), depth - 1)
        called = _in_pipe(inside.words, inside.folder or scope.folder, command, scope)
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

    def _changes_scope(self, words: list[str], scope: _Scope) -> bool:
        name = words[0]
        if name in ("cd", "pushd", "popd"):
            scope.enter(words)
        elif name in _DECLARE:
            for word in words[1:]:
                scope.assign(word)
        elif name in _READ:
            for word in words[1:]:
                scope.variables[word] = (SOMETHING,)
        elif name == "set" and "--" in words:
            given = words[words.index("--") :]
            scope.variables.update(scope.inner(given).variables)
        else:
            return False
        return True


def _in_pipe(
    words: tuple[str, ...], folder: str, command: Simple | None, scope: _Scope
) -> Called:
    if command is None:
        return Called(words, folder)
    stdin = None
    for redirect in command.redirects:
        if redirect.operator in ("<<", "<<<"):
            stdin = "\n".join(literal(text) for text in alternatives(redirect.target, scope.variables))
    for word in command.words[1:]:
        # `bash <(echo TEXT)`: the text is what runs.
        inner = [part.items for part in word.parts if part.kind == "substitution"]
        for items in inner:
            if len(items) == 1 and isinstance(items[0], Simple) and word == command.words[-1]:
                stdin = stdin or None
    source = command.source
    if source is None:
        return Called(words, folder, stdin, _substitutes_encoded(command))
    names = _words(source, scope)
    listed = roots_of(tuple(names)) if names[:1] == ["find"] and finds_all(tuple(names)) else ()
    return Called(
        words,
        folder,
        printed(source, scope.variables) if stdin is None else stdin,
        bool(names) and names[0] in DECODERS,
        listed,
    )


def _substitutes_encoded(command: Simple) -> bool:
    return False


def _words(command: Simple, scope: _Scope) -> list[str]:
    words = [each for word in command.words for each in fields(word, scope.variables)]
    return list(unwrapped(words).words)


def _plain(name: str) -> Word:
    from redshank_node.tools.support.danger_words import Part

    return Word((Part("text", name),))


def _is_bomb(function: Function) -> bool:
    """Whether it starts itself twice over without waiting."""
    calls = [
        item
        for item in function.items
        if isinstance(item, Simple)
        and len(item.words) >= 1
        and "".join(part.text for part in item.words[0].parts) == function.name
    ]
    return len(calls) > 1 and any(call.piped or call.background for call in calls)


def _shown(words: Iterable[str]) -> str:
    text = " ".join(literal(word) for word in words)
    for stand_in, said in ((HOME, "~"), (MAYBE_EMPTY, "$..."), (SOMETHING, "...")):
        text = text.replace(stand_in, said)
    return text[:100]
