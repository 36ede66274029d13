"""Reads a command line as bash does: into commands, with their words, redirections, documents."""

import re

from redshank_node.tools.support.danger.reader import (
    BLANK,
    ENDS_WORD,
    MOST_NESTED,
    Stopped,
    WordReader,
)
from redshank_node.tools.support.danger.words import (
    Function,
    Group,
    Item,
    Loop,
    Part,
    Redirect,
    Simple,
    Word,
)

_KEYWORDS = frozenset({"if", "then", "elif", "else", "fi", "do", "done", "!"})
_CASE_ENDS = (";;&", ";;", ";&")
_OPERATORS = ("&&", "||", *_CASE_ENDS, "|&", ";", "&", "|", "\n")
_REDIRECTS = ("<<<", "<<-", "&>>", "<<", ">>", ">|", "<>", ">&", "<&", "&>", ">", "<")


class Unreadable(Exception):
    """The line ends within a quote or nests too deeply. `items` is what stands before."""

    def __init__(self, items: list[Item], *, nested: bool = False) -> None:
        super().__init__("nested too deeply" if nested else "unfinished")
        self.items = items
        self.nested = nested


def parsed(text: str) -> tuple[Item, ...]:
    """The commands of the line in order; Unreadable with those before the place it cannot read."""
    reader = _Reader(text.replace("\\\n", ""))
    try:
        return tuple(reader.items(""))
    except Stopped as stopped:
        raise Unreadable(reader.done, nested=stopped.nested) from None


class _Pending:
    """A command as it is read."""

    def __init__(self) -> None:
        self.words: list[Word] = []
        self.redirects: list[Redirect] = []
        self.source: Simple | None = None

    def is_empty(self) -> bool:
        return not (self.words or self.redirects)

    def taken(self, *, piped: bool, background: bool) -> Simple:
        return Simple(
            tuple(self.words),
            tuple(self.redirects),
            self.source,
            piped or self.source is not None,
            background,
        )


class _Reader(WordReader):
    """One pass over the text, one place at a time."""

    def __init__(self, text: str, depth: int = 0) -> None:
        super().__init__(text, depth)
        self.done: list[Item] = []
        self._behind_documents = 0
        self._cases = 0

    def items(self, end: str) -> list[Item]:
        """The commands up to `end`, which is taken; up to the end of the text where it is empty."""
        if self._depth > MOST_NESTED:
            raise Stopped(nested=True)
        self._depth += 1
        found: list[Item] = self.done if not end else []
        command = _Pending()
        while self._command_piece(command, found, end):
            pass
        self._close(command, found, "")
        self._depth -= 1
        return found

    def below(self, text: str) -> "_Reader":
        return _Reader(text, self._depth + 1)

    def _command_piece(self, command: _Pending, found: list[Item], end: str) -> bool:
        """Read one piece into the command or close it; whether to go on."""
        self._blanks()
        if self._at >= len(self._text):
            if end:
                self._close(command, found, "")
                raise Stopped
            return False
        here = self._text[self._at]
        if here == end and (end != "}" or command.is_empty()):
            self._at += 1
            return False
        if here == "#" and self._begins_word():
            stop = self._text.find("\n", self._at)
            self._at = len(self._text) if stop < 0 else stop
        elif operator := self._redirect():
            self._redirected(command, operator)
        elif operator := self._one_of(_OPERATORS):
            self._close(command, found, operator)
            if operator in _CASE_ENDS and self._cases:
                self._pattern()
        elif here in "()":
            self._parenthesis(command, found, here)
        else:
            self._word_or_keyword(command, found)
        return True

    def _blanks(self) -> None:
        while self._at < len(self._text) and self._text[self._at] in BLANK:
            self._at += 1

    def _begins_word(self) -> bool:
        return self._at == 0 or self._text[self._at - 1] in ENDS_WORD

    def _redirect(self) -> str:
        place = self._at
        digits = re.compile(r"\d*|\{\w+\}").match(self._text, place)
        if digits and digits.end() > place and self._begins_word():
            self._at = digits.end()
        if self._text.startswith(("<(", ">("), self._at):
            self._at = place
            return ""
        operator = self._one_of(_REDIRECTS)
        if not operator:
            self._at = place
        return operator

    def _redirected(self, command: _Pending, operator: str) -> None:
        self._blanks()
        word = self._word()
        if operator in ("<<", "<<-") and not self._arithmetic:
            limit = "".join(part.text for part in word.parts)
            body = self._document(limit, strip=operator == "<<-")
            if word.is_quoted():
                word = Word((Part("text", body, quoted=True),))
            else:
                word = Word(tuple(self.below(body).quoted_parts("")))
            operator = "<<"
        command.redirects.append(Redirect(operator, word))

    def _document(self, limit: str, *, strip: bool) -> str:
        """The text of a here-document: it begins behind this line, or behind the last one."""
        if not self._behind_documents:
            line_end = self._text.find("\n", self._at)
            self._behind_documents = len(self._text) if line_end < 0 else line_end + 1
        lines: list[str] = []
        at = self._behind_documents
        while at < len(self._text):
            stop = self._text.find("\n", at)
            stop = len(self._text) if stop < 0 else stop
            line = self._text[at:stop]
            at = min(stop + 1, len(self._text))
            if (line.lstrip("\t") if strip else line) == limit:
                break
            lines.append(line + "\n")
        self._behind_documents = at
        return "".join(lines)

    def _close(self, command: _Pending, found: list[Item], operator: str) -> None:
        if operator == "\n" and self._behind_documents:
            self._at, self._behind_documents = self._behind_documents, 0
        piped = operator in ("|", "|&")
        taken: Simple | None = None
        if not command.is_empty():
            taken = command.taken(piped=piped, background=operator == "&")
            found.append(taken)
        elif piped:
            taken = _last(found)
        elif operator == "&" and found and isinstance(found[-1], Group):
            found[-1] = Group(found[-1].items, background=True)
        command.words, command.redirects = [], []
        if operator != "\n" or taken is not None:
            command.source = taken if piped else None

    def _parenthesis(self, command: _Pending, found: list[Item], here: str) -> None:
        self._at += 1
        if here == ")":
            # The end of a case's pattern: what stood before it is no command.
            command.words, command.redirects = [], []
        elif len(command.words) == 1 and re.match(r"[ \t]*\)", self._text[self._at :]):
            self._at = self._text.index(")", self._at) + 1
            self._function("".join(part.text for part in command.words[0].parts), found)
            command.words = []
        else:
            self._close(command, found, "")
            double = self._text.startswith("(", self._at)
            self._arithmetic += double
            found.append(Group(tuple(self.items(")"))))
            self._arithmetic -= double

    def _function(self, name: str, found: list[Item]) -> None:
        self.space()
        if self._at >= len(self._text):
            return
        here = self._text[self._at]
        if here in "{(":
            self._at += 1
            found.append(Function(name, tuple(self.items("}" if here == "{" else ")"))))

    def _word_or_keyword(self, command: _Pending, found: list[Item]) -> None:
        word = self._word()
        plain = _plain_text(word)
        if command.words or word.parts and word.parts[0].kind != "text":
            command.words.append(word)
        elif plain == "{":
            found += self.items("}")
        elif plain == "for" or plain == "select":
            self._loop(found)
        elif plain == "function":
            self._blanks()
            name = "".join(part.text for part in self._word().parts)
            self._one_of(("()", " ()"))
            self._function(name, found)
        elif plain == "case":
            self._blanks()
            found.append(Loop("", (self._word(),)))
            self.space()
            self._one_of(("in",))
            self._cases += 1
            self._pattern()
        elif plain == "esac":
            self._cases = max(self._cases - 1, 0)
        elif plain in ("while", "until"):
            found.append(Loop("", ()))
        elif plain == "coproc" or (plain == "time" and self._times_group()):
            self._behind_name()
        elif plain not in _KEYWORDS:
            command.words.append(word)

    def _times_group(self) -> bool:
        return re.compile(r"[ \t]+(-p[ \t]+)?\{").match(self._text, self._at) is not None

    def _behind_name(self) -> None:
        """Go behind what stands before the group of `coproc NAME {`, `time -p {`."""
        self._blanks()
        named = re.compile(r"[\w-]+[ \t]+(?=[{(])").match(self._text, self._at)
        self._at = named.end() if named else self._at

    def _pattern(self) -> None:
        """Go behind the pattern of a case's next part: its words are no commands."""
        self.space()
        place = self._at
        while self._at < len(self._text) and self._text[self._at] != ")":
            if self._text[self._at] in "(|" + BLANK:
                self._at += 1
                continue
            before = self._at
            word = self._word()
            if self._at == before or (place == before and _plain_text(word) == "esac"):
                self._at = place
                return
        self._at += 1

    def _loop(self, found: list[Item]) -> None:
        self._blanks()
        if self._text.startswith("((", self._at):
            return
        name = "".join(part.text for part in self._word().parts)
        self._blanks()
        values = []
        if (
            self._text.startswith("in", self._at)
            and self._text[self._at + 2 : self._at + 3] in " \t"
        ):
            self._at += 2
            self._blanks()
            while self._at < len(self._text) and self._text[self._at] not in ";\n&|()<>":
                values.append(self._word())
                self._blanks()
        found.append(Loop(name, tuple(values)))


def _plain_text(word: Word) -> str:
    """The word, where it is written without quotes or anything to expand; else nothing."""
    whole = len(word.parts) == 1 and word.parts[0].kind == "text" and not word.is_quoted()
    return word.parts[0].text if whole else ""


def _last(items: list[Item]) -> Simple | None:
    """The last command that stands among these, in a group or not."""
    for item in reversed(items):
        if isinstance(item, Simple):
            return item
        if isinstance(item, Group) and (found := _last(list(item.items))):
            return found
    return None
