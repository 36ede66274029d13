"""Resolves what a word of a command line can stand for: its quotes, its variables."""

import fnmatch
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec

from redshank_node.tools.support.danger.output import decodes, filtered, written
from redshank_node.tools.support.danger.wrappers import unwrapped

# Stand-ins from the private use area: what an expansion gives that no reading can tell.
MAYBE_EMPTY = "\ue000"
SOMETHING = "\ue001"
_SEPARATOR = "\ue002"
_ME = "\ue003"
HOME = f"/home/{_ME}"
ENCODED = "\ue004"

_SPECIAL = "*?[]{},~ \t\n"
_QUOTED = {ord(letter): 0xE100 + ord(letter) for letter in _SPECIAL}
_PLAIN = {code: letter for letter, code in _QUOTED.items()}
_MOST_ALTERNATIVES = 64
_LONGEST_PIPE = 16
_LONGEST_CHANGED = 1000
_LONGEST_TEXT = 1 << 20
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}|\{(\w)\.\.(\w)\}")
_TILDE = re.compile(r"~[\w-]*(?=/|$|:)")

Variables: TypeAlias = Mapping[str, tuple[str, ...]]
KNOWN: Variables = {"HOME": (HOME,), "USER": (_ME,), "LOGNAME": (_ME,), "IFS": (" ",)}


class TooLong(Exception):
    """A word stands for a longer text than can be judged."""


class Part(msgspec.Struct, frozen=True):
    """A piece of a word. `text`: the characters, a variable's name, or the text of a command that a
    substitution runs, as far as `items` is read from it; `values`: the words of an array. Behind a
    variable's name may stand an `operator` with its `operand`; `each`: it is all of an array.
    """

    kind: Literal["text", "variable", "substitution", "array"]
    text: str = ""
    quoted: bool = False
    operator: str = ""
    operand: tuple["Part", ...] = ()
    each: bool = False
    items: tuple["Item", ...] = ()
    values: tuple["Word", ...] = ()


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
    """A variable that takes each of the values in turn; no name for `while` or `until`."""

    name: str
    values: tuple[Word, ...]


class Group(msgspec.Struct, frozen=True):
    """Commands that change no folder or variable outside of them: a subshell, a substitution.
    `background`: nobody waits for it.
    """

    items: tuple["Item", ...]
    background: bool = False


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
    texts = map(_together, itertools.product(*choices))
    found = list(itertools.islice(texts, _MOST_ALTERNATIVES))
    first = parts[0] if parts else None
    if first is not None and first.kind == "text" and not first.quoted:
        found = [_TILDE.sub(HOME, text, count=1) if text[:1] == "~" else text for text in found]
    return found


def _together(pieces: Sequence[str]) -> str:
    if sum(map(len, pieces)) > _LONGEST_TEXT:
        raise TooLong
    return "".join(pieces)


def _choices(part: Part, variables: Variables) -> Sequence[str]:
    if part.kind == "text":
        return (quoted(part.text) if part.quoted else part.text,)
    if part.kind == "array":
        return [text for word in part.values for text in alternatives(word, variables)] or ("",)
    if part.kind == "substitution":
        return (_spread(_said(part.items, variables), part.quoted),)
    return tuple(_spread(value, part.quoted) for value in _values(part, variables))


def _values(part: Part, variables: Variables) -> Sequence[str]:
    known = variables.get(part.text)
    operand = _alternatives(part.operand, variables)
    if part.operator == "!":
        values = [value for name in known or () for value in variables.get(name, ())]
        return values or (SOMETHING,)
    if part.operator in (":+", "+"):
        # Where the variable is empty nothing of this stands there.
        return (*(each.replace(MAYBE_EMPTY, SOMETHING) for each in operand), "")
    if known is not None:
        return tuple(_changed(value, part.operator, literal(operand[0])) for value in known)
    if part.operator in (":-", ":=", "-", "="):
        return (*operand, SOMETHING)
    return (_unset(part, variables),)


def _unset(part: Part, variables: Variables) -> str:
    """What a variable stands for that the line gives no value."""
    if part.operator in (":?", "?"):
        return SOMETHING
    if re.match(r"[1-9]", part.text):
        return SOMETHING if SOMETHING in variables.get("@", ()) else MAYBE_EMPTY
    return MAYBE_EMPTY if re.match(r"[A-Za-z_]", part.text) else SOMETHING


def _changed(value: str, operator: str, operand: str) -> str:
    """The value of `${NAME%PATTERN}` and its like."""
    if operator and len(value) > _LONGEST_CHANGED:
        return SOMETHING
    changed = value
    match operator:
        case "%" | "%%":
            ends = range(len(value), -1, -1) if operator == "%" else range(len(value) + 1)
            changed = next((value[:at] for at in ends if _fits(value[at:], operand)), value)
        case "#" | "##":
            ends = range(len(value) + 1) if operator == "#" else range(len(value), -1, -1)
            changed = next((value[at:] for at in ends if _fits(value[:at], operand)), value)
        case "/" | "//":
            old, _, new = operand.partition("/")
            changed = value.replace(old, new) if old else value
        case ":":
            changed = _cut(value, operand)
        case "^^" | ",,":
            changed = value.upper() if operator == "^^" else value.lower()
    return changed


def _cut(value: str, operand: str) -> str:
    """`${NAME:START:LENGTH}`."""
    start, _, length = (each.strip() for each in operand.partition(":"))
    if not start.isdecimal() or (length and not length.isdecimal()):
        return SOMETHING
    return value[int(start[:6]) :][: int(length[:6]) if length else None]


def _fits(text: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(text, pattern)


def _spread(value: str, in_quotes: bool) -> str:
    if in_quotes:
        # A glob that a loop went through is a name by now, but still any of those it stood for.
        return re.sub(r"\s", lambda blank: quoted(blank[0]), value)
    return re.sub(r"[ \t\n]+", _SEPARATOR, value)


def _said(items: Sequence[Item], variables: Variables) -> str:
    """What the commands of a substitution write, as far as that can be told."""
    last = items[-1] if items else None
    if not isinstance(last, Simple):
        return SOMETHING
    text = printed(last, variables)
    chain, command = 1, last
    while command.source is not None and chain < len(items):
        chain, command = chain + 1, command.source
    if text is None or (chain < len(items) and ENCODED not in text):
        return SOMETHING
    return text.rstrip("\n")


def printed(command: Simple, variables: Variables, longest: int = _LONGEST_PIPE) -> str | None:
    """What a command writes, through any number of filters that pass it on; None where nobody can
    tell. Text that a decoder made is ENCODED, through whatever filters.
    """
    words = [literal(each) for each in named(command, variables)]
    if not words or longest == 0:
        return None
    if decodes(words):
        return ENCODED + SOMETHING
    if words[0] in ("pwd", "whoami"):
        return variables.get("PWD", (SOMETHING,))[0] if words[0] == "pwd" else _ME
    text = written(words)
    if text is not None:
        return text
    given = read_by(command, variables, longest - 1)
    if given is None or words in (["cat"], ["cat", "-"]) or words[0] == "tee":
        return given
    return ENCODED + SOMETHING if ENCODED in given else filtered(words, given)


def read_by(command: Simple, variables: Variables, longest: int = _LONGEST_PIPE) -> str | None:
    """The text that a command reads; None where nobody can tell."""
    for redirect in reversed(command.redirects):
        if redirect.operator in ("<<", "<<<"):
            return "\n".join(map(literal, alternatives(redirect.target, variables)))
        if redirect.operator == "<":
            texts = alternatives(redirect.target, variables)
            return next((text for text in texts if ENCODED in text), None)
    source = command.source
    return printed(source, variables, longest) if source is not None else None


def named(command: Simple, variables: Variables) -> list[str]:
    """The words of a command without what wraps it."""
    words = [each for word in command.words for each in fields(word, variables)]
    return list(unwrapped(words).words)


def all_of(word: Word, variables: Variables) -> Sequence[str]:
    """The words that `"$@"` or `"${NAME[@]}"` becomes; none for any other word."""
    part = word.parts[-1] if word.parts else None
    before = word.parts[:-1]
    if part is None or part.kind != "variable" or any(each.text or each.items for each in before):
        return ()
    return variables.get(part.text, ()) if part.each or part.text in ("@", "*") else ()


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
        choices = found[1].split(",") if found[1] else _sequence(found[2], found[3])
        todo += [one[: found.start()] + choice + one[found.end() :] for choice in choices[::-1]]
    return done + todo


def _sequence(first: str, last: str) -> list[str]:
    """The letters of `{a..z}`."""
    codes = sorted((ord(first), ord(last)))
    return [chr(code) for code in range(codes[0], min(codes[1], codes[0] + _MOST_ALTERNATIVES) + 1)]
