"""Resolves what a word of a command line can stand for: its quotes, its variables."""

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

# Stand-ins from the private use area: what an expansion gives that no reading can tell.
MAYBE_EMPTY = "\ue000"
SOMETHING = "\ue001"
_SEPARATOR = "\ue002"
HOME = "/home/\ue003"

_SPECIAL = "*?[]{},~ \t\n"
_QUOTED = {ord(letter): 0xE100 + ord(letter) for letter in _SPECIAL}
_PLAIN = {code: letter for letter, code in _QUOTED.items()}
_MOST_ALTERNATIVES = 64
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_TILDE = re.compile(r"~[\w-]*(?=/|$|:)")

Variables: TypeAlias = Mapping[str, tuple[str, ...]]
KNOWN: Variables = {"HOME": (HOME,), "IFS": (" ",)}


class Part(msgspec.Struct, frozen=True):
    """A piece of a word. `text`: the characters, a variable's name, or the text of a command that a
    substitution runs, as far as `items` is read from it. `fallback` is what a variable that is
    unset stands for; `guarded`: where it is unset nothing runs.
    """

    kind: Literal["text", "variable", "substitution"]
    text: str = ""
    quoted: bool = False
    guarded: bool = False
    fallback: tuple["Part", ...] | None = None
    items: tuple["Item", ...] = ()


class Word(msgspec.Struct, frozen=True):
    """A word as it was written."""

    parts: tuple[Part, ...]

    def is_quoted(self) -> bool:
        """Whether any piece of it stands in quotes."""
        return any(part.quoted for part in self.parts)


class Redirect(msgspec.Struct, frozen=True):
    """`>`, `<` and their like with what they lead to; `<<` with the document's text."""

    operator: str
    target: Word


class Simple(msgspec.Struct, frozen=True):
    """A command with its words. `source`: the one whose output it reads; `piped`: it has either
    neighbour; `background`: nobody waits for it.
    """

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    source: "Simple | None" = None
    piped: bool = False
    background: bool = False


class Loop(msgspec.Struct, frozen=True):
    """A variable that takes each of the values in turn."""

    name: str
    values: tuple[Word, ...]


class Group(msgspec.Struct, frozen=True):
    """Commands that change no folder or variable outside of them: a subshell, a substitution."""

    items: tuple["Item", ...]


class Function(msgspec.Struct, frozen=True):
    """Commands under a name."""

    name: str
    items: tuple["Item", ...]


Item: TypeAlias = Simple | Loop | Group | Function


def fields(word: Word, variables: Variables) -> list[str]:
    """Every word that this one can become, all its alternatives one after another."""
    return [field for text in alternatives(word, variables) for field in split_text(text)]


def alternatives(word: Word, variables: Variables) -> list[str]:
    """The texts that this word can stand for, not split yet."""
    return _alternatives(word.parts, variables)


def literal(text: str) -> str:
    """The text with its quoted characters as they are; stand-ins for what is unknown stay."""
    return text.translate(_PLAIN)


def quoted(text: str) -> str:
    """The text as something in quotes: none of its characters means more than itself."""
    return text.translate(_QUOTED)


def is_unknown(text: str) -> bool:
    """Whether nobody can tell what a part of this will be."""
    return MAYBE_EMPTY in text or SOMETHING in text


def _alternatives(parts: Sequence[Part], variables: Variables) -> list[str]:
    choices = [_choices(part, variables) for part in parts]
    texts = ("".join(chosen) for chosen in itertools.product(*choices))
    found = list(itertools.islice(texts, _MOST_ALTERNATIVES))
    first = parts[0] if parts else None
    if first is not None and first.kind == "text" and not first.quoted:
        found = [_TILDE.sub(HOME, text, count=1) if text[:1] == "~" else text for text in found]
    return found


def _choices(part: Part, variables: Variables) -> Sequence[str]:
    if part.kind == "text":
        return (quoted(part.text) if part.quoted else part.text,)
    if part.kind == "substitution":
        return (_spread(_said(part.items, variables), part.quoted),)
    return tuple(_spread(value, part.quoted) for value in _values(part, variables))


def _values(part: Part, variables: Variables) -> Sequence[str]:
    known = variables.get(part.text)
    if known is not None:
        return known
    if part.guarded or not re.match(r"[A-Za-z_]", part.text):
        return (SOMETHING,)
    if part.fallback is not None:
        return (*_alternatives(part.fallback, variables), SOMETHING)
    return (MAYBE_EMPTY,)


def _spread(value: str, in_quotes: bool) -> str:
    if in_quotes:
        # A glob that a loop went through is a name by now, but still any of those it stood for.
        return re.sub(r"\s", lambda blank: quoted(blank[0]), value)
    return re.sub(r"[ \t\n]+", _SEPARATOR, value)


def _said(items: Sequence[Item], variables: Variables) -> str:
    commands = [item for item in items if isinstance(item, Simple)]
    if len(commands) == len(items) == 1:
        text = printed(commands[0], variables)
        if text is not None:
            return text.rstrip("\n")
    return SOMETHING


def printed(command: Simple, variables: Variables) -> str | None:
    """What a plain `echo` or `printf` writes; None for any other command."""
    words = [literal(field) for word in command.words for field in fields(word, variables)]
    if not words or words[0] not in ("echo", "printf"):
        return None
    operands = [word for word in words[1:] if not re.fullmatch(r"-[neE]+", word)]
    if words[0] == "echo":
        return " ".join(operands).replace("\\n", "\n") + "\n"
    if not operands:
        return ""
    form = operands[0].replace("\\n", "\n").replace("%b", "%s").replace("%q", "%s")
    if "%s" not in form:
        return form
    return "".join(form.replace("%s", word) for word in operands[1:]) or form.replace("%s", "")


def split_text(text: str) -> list[str]:
    """The words that an alternative falls into."""
    whole = _braced(text)
    return [field for one in whole for field in one.split(_SEPARATOR) if field or one == ""]


def as_one(text: str) -> str:
    """An alternative that stays one word, as the value of an assignment does."""
    return text.replace(_SEPARATOR, " ")


def _braced(text: str) -> list[str]:
    done: list[str] = []
    todo = [text]
    while todo and len(done) + len(todo) <= _MOST_ALTERNATIVES:
        one = todo.pop()
        found = _BRACES.search(one)
        if found is None:
            done.append(one)
            continue
        choices = found[1].split(",")
        todo += [one[: found.start()] + choice + one[found.end() :] for choice in choices[::-1]]
    return done + todo
