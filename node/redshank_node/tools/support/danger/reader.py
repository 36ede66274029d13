"""Reads words as bash does: their quotes, variables, substitutions."""

import re
from abc import ABC, abstractmethod

from redshank_node.tools.support.danger.words import Item, Part, Word

BLANK = " \t\r"
ENDS_WORD = BLANK + "\n;&|()<>"
MOST_NESTED = 15
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "e": "\x1b",
}
_CODE = re.compile(r"x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9@*#?$!_-]")
_MEANS = "'\"\\$`"
_PLAIN = re.compile(r"[^\s;&|()<>'\"\\$`]+")
_PLAIN_QUOTED = re.compile(r"[^\"\\$`]+")
_ARRAY = re.compile(r"[A-Za-z_]\w*\+?=")
_OPERATORS = (
    *(":-", ":=", ":?", ":+", "-", "=", "?", "+"),
    *("%%", "%", "##", "#", "//", "/", "^^", "^", ",,", ",", ":"),
)


class Stopped(Exception):
    """The text ends within a quote, or nests too deeply."""

    def __init__(self, *, nested: bool = False) -> None:
        super().__init__()
        self.nested = nested


class WordReader(ABC):
    """A place in a text from which words are read. `items` reads what a substitution runs."""

    def __init__(self, text: str, depth: int) -> None:
        self._text = text
        self._at = 0
        self._depth = depth
        self._arithmetic = 0

    @abstractmethod
    def items(self, end: str) -> list[Item]:
        """The commands up to `end`, which is taken; up to the end of the text where it is empty."""

    @abstractmethod
    def below(self, text: str) -> "WordReader":
        """A reader of a text within this one."""

    def _one_of(self, choices: tuple[str, ...]) -> str:
        for choice in choices:
            if self._text.startswith(choice, self._at):
                self._at += len(choice)
                return choice
        return ""

    def _word(self) -> Word:
        parts: list[Part] = []
        while self._at < len(self._text):
            here = self._text[self._at]
            if here in "<>" and self._text.startswith("(", self._at + 1):
                self._at += 2
                parts.append(Part("substitution", quoted=True, items=tuple(self.items(")"))))
                continue
            if here == "(" and self._attached(parts):
                continue
            if here in ENDS_WORD:
                break
            self._at += 1
            parts += self._piece(here) if here in _MEANS else [self._plain(_PLAIN)]
        if not parts and self._at < len(self._text) and self._text[self._at] in "<>":
            self._at += 1
        return Word(tuple(_joined(parts)))

    def _attached(self, parts: list[Part]) -> bool:
        """Read what stands in parentheses right behind these parts, `NAME=(...)`, `@(...)`: whether
        there was such a thing.
        """
        before = parts[-1] if parts else None
        if before is None or before.kind != "text" or before.quoted:
            return False
        if len(parts) == 1 and _ARRAY.fullmatch(before.text):
            self._at += 1
            parts.append(self._array())
            return True
        stop = self._text.find(")", self._at)
        if before.text[-1:] not in tuple("?*+@!") or len(before.text) < 2 or stop < 0:
            return False
        choices = self._text[self._at + 1 : stop].replace("|", ",")
        meant = "*" if before.text.endswith("!") else f"{{{choices},}}"
        parts[-1] = Part("text", before.text[:-1] + meant)
        self._at = stop + 1
        return True

    def _array(self) -> Part:
        if self._depth > MOST_NESTED:
            raise Stopped(nested=True)
        self._depth += 1
        values: list[Word] = []
        self.space()
        while not self._text.startswith(")", self._at):
            if self._at >= len(self._text):
                raise Stopped
            before = self._at
            values.append(self._word())
            self._at += self._at == before
            self.space()
        self._at += 1
        self._depth -= 1
        inside = tuple(item for word in values for part in word.parts for item in part.items)
        return Part("array", items=inside, values=tuple(values))

    def space(self) -> None:
        """Go behind blanks, ends of lines."""
        while self._at < len(self._text) and self._text[self._at] in BLANK + "\n":
            self._at += 1

    def _plain(self, run: re.Pattern[str], *, quoted: bool = False) -> Part:
        """The character before this place with those that mean as little behind it."""
        more = run.match(self._text, self._at)
        start, self._at = self._at - 1, more.end() if more else self._at
        return Part("text", self._text[start : self._at], quoted)

    def _piece(self, here: str) -> list[Part]:
        if here == "'":
            return [Part("text", self._until("'"), quoted=True)]
        if here == '"':
            return [Part("text", "", quoted=True), *self.quoted_parts('"')]
        if here == "\\":
            self._at += 1
            return [Part("text", self._text[self._at - 1 : self._at], quoted=True)]
        if here == "$":
            return self._dollar(False)
        if here == "`":
            return [self._backticks(False)]
        return [Part("text", here)]

    def quoted_parts(self, end: str) -> list[Part]:
        """What stands within double quotes up to `end`, or all of the text as if it did."""
        parts: list[Part] = []
        while self._at < len(self._text):
            here = self._text[self._at]
            self._at += 1
            if here == end:
                return parts
            if here == "\\" and self._text[self._at : self._at + 1] in tuple('$`"\\'):
                self._at += 1
                parts.append(Part("text", self._text[self._at - 1], quoted=True))
            elif here == "$":
                parts += self._dollar(True)
            elif here == "`":
                parts.append(self._backticks(True))
            else:
                parts.append(self._plain(_PLAIN_QUOTED, quoted=True))
        if end:
            raise Stopped
        return parts

    def _dollar(self, in_quotes: bool) -> list[Part]:
        here = self._text[self._at : self._at + 1]
        if here == "(":
            self._at += 1
            double = self._text.startswith("(", self._at)
            self._arithmetic += double
            items = tuple(self.items(")"))
            self._arithmetic -= double
            return [Part("substitution", quoted=in_quotes, items=items)]
        if here == "{":
            return [self._braced(in_quotes)]
        if here == "'" and not in_quotes:
            self._at += 1
            return [Part("text", self._ansi(), quoted=True)]
        if here == '"' and not in_quotes:
            return []
        name = _NAME.match(self._text, self._at)
        if name is None:
            return [Part("text", "$", quoted=True)]
        self._at = name.end()
        return [Part("variable", name[0], quoted=in_quotes)]

    def _braced(self, in_quotes: bool) -> Part:
        """`${NAME}` with what may stand behind the name."""
        if self._depth > MOST_NESTED:
            raise Stopped(nested=True)
        self._depth += 1
        self._at += 1
        indirect = self._one_of(("!", "#"))
        name = _NAME.match(self._text, self._at)
        if name is not None:
            self._at = name.end()
        index = self._index() if name is not None else []
        operator = self._one_of(_OPERATORS)
        inner: list[Part] = []
        while not self._text.startswith("}", self._at):
            if self._at >= len(self._text):
                raise Stopped
            here = self._text[self._at]
            self._at += 1
            inner += self._piece(here)
        self._at += 1
        self._depth -= 1
        known = name is not None and indirect != "#" and bool(operator or not inner)
        return Part(
            "variable",
            name[0] if known and name else "?",
            quoted=in_quotes,
            operator=indirect or operator,
            operand=tuple(_joined(inner)),
            each="".join(part.text for part in index) in ("@", "*"),
            items=tuple(item for part in (*index, *inner) for item in part.items),
        )

    def _index(self) -> list[Part]:
        """What stands in brackets behind an array's name."""
        found: list[Part] = []
        if not self._text.startswith("[", self._at):
            return found
        self._at += 1
        while not self._text.startswith("]", self._at):
            if self._at >= len(self._text):
                raise Stopped
            self._at += 1
            found += self._piece(self._text[self._at - 1])
        self._at += 1
        return found

    def _backticks(self, in_quotes: bool) -> Part:
        raw = ""
        while not self._text.startswith("`", self._at):
            if self._at >= len(self._text):
                raise Stopped
            if self._text[self._at] == "\\" and self._text[self._at + 1 : self._at + 2] in "`\\$":
                self._at += 1
            raw += self._text[self._at : self._at + 1]
            self._at += 1
        self._at += 1
        items = tuple(self.below(raw).items(""))
        return Part("substitution", quoted=in_quotes, items=items)

    def _ansi(self) -> str:
        found = ""
        while not self._text.startswith("'", self._at):
            if self._at >= len(self._text):
                raise Stopped
            here = self._text[self._at]
            self._at += 1
            if here != "\\":
                found += here
                continue
            code = _CODE.match(self._text, self._at)
            if code is not None:
                self._at = code.end()
                octal = code[2]
                number = int(octal, 8) if octal else int(code[1] or code[3] or code[4], 16)
                found += chr(number) if number < 0x110000 else "?"
            else:
                letter = self._text[self._at : self._at + 1]
                self._at += 1
                found += _ESCAPES.get(letter, letter)
        self._at += 1
        return found

    def _until(self, end: str) -> str:
        stop = self._text.find(end, self._at)
        if stop < 0:
            raise Stopped
        text = self._text[self._at : stop]
        self._at = stop + 1
        return text


def _joined(parts: list[Part]) -> list[Part]:
    """Neighbouring texts of one kind as one."""
    found: list[Part] = []
    for part in parts:
        last = found[-1] if found else None
        if last and last.kind == part.kind == "text" and last.quoted == part.quoted:
            found[-1] = Part("text", last.text + part.text, part.quoted)
        else:
            found.append(part)
    return found
