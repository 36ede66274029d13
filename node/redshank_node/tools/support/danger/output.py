"""Tells what a command writes, where its words alone say it."""

import posixpath
import re
from collections.abc import Sequence

from redshank_node.tools.support.danger.find import finds_all, roots_of

_DECODES = {
    "base64": re.compile(r"-[a-zA-Z]*[dD]|--d(ecode)?"),
    "base32": re.compile(r"-[a-zA-Z]*[dD]|--d(ecode)?"),
    "basenc": re.compile(r"-[a-zA-Z]*[dD]|--d(ecode)?"),
    "xxd": re.compile(r"-[a-z]*r[a-z]*|-revert"),
    "openssl": re.compile(r"-d"),
    "uudecode": re.compile(r".*"),
}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})|0?([0-7]{1,3})|u([0-9a-fA-F]{1,4})|(.))", re.DOTALL)
_LETTERS = dict(zip("ntrabfve", "\n\t\r\a\b\f\v\x1b", strict=True))
_RANGE = re.compile(r"(.)-(.)", re.DOTALL)
_LOOKS_UP = frozenset({"which", "command", "type", "whereis", "realpath", "readlink"})


def decodes(words: Sequence[str]) -> bool:
    """Whether a command turns encoded text into what nobody could read before."""
    wanted = _DECODES.get(words[0]) if words else None
    if wanted is None:
        return False
    return words[0] == "uudecode" or any(wanted.fullmatch(word) for word in words[1:])


def written(words: Sequence[str]) -> str | None:
    """What `echo`, `printf`, `ls`, `find` and their like write; None for any other command. Names
    of files that are listed come as patterns.
    """
    name, operands = words[0], [word for word in words[1:] if not word.startswith("-")]
    match name:
        case "echo":
            shown = [word for word in words[1:] if not re.fullmatch(r"-[neE]+", word)]
            return unescaped(" ".join(shown)) + "\n"
        case "printf":
            return _formatted(words[1:])
        case "ls":
            whole = any(re.fullmatch(r"-[a-zA-Z1]*d[a-zA-Z1]*", word) for word in words[1:])
            named = whole or any(glob in each for each in operands for glob in "*?[")
            return "\n".join(operands if named else ["*"]) + "\n"
        case "find":
            roots = roots_of(words)
            return "".join(f"{r}\n{r}/*\n" for r in roots) if finds_all(words) else None
        case "dirname" if operands:
            return posixpath.dirname(operands[0])
    return operands[0] if name in _LOOKS_UP and operands else None


def filtered(words: Sequence[str], text: str) -> str | None:
    """What `rev` or a plain `tr` makes of a text; None for any other command."""
    if words[0] == "rev":
        return "\n".join(line[::-1] for line in text.split("\n"))
    if words[0] != "tr" or len(words) != 3:
        return None
    if words[1] == "-d":
        return text.translate(dict.fromkeys(map(ord, _letters(words[2]))))
    old, new = _letters(words[1]), _letters(words[2])
    if words[1].startswith(("-", "[:")) or not new:
        return None
    return text.translate(dict(zip(map(ord, old), new + new[-1] * len(old), strict=False)))


def _letters(form: str) -> str:
    """The characters that `a-z` and their like stand for."""
    return _RANGE.sub(
        lambda found: "".join(map(chr, range(ord(found[1]), min(ord(found[2]), 0x2FF) + 1))),
        unescaped(form),
    )


def unescaped(text: str) -> str:
    """The text with its backslash escapes read as `printf` does."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(found: re.Match[str]) -> str:
    if found[4] is not None:
        return _LETTERS.get(found[4], found[4] if found[4] == "\\" else found[0])
    return chr(int(found[2], 8) if found[2] else int(found[1] or found[3], 16))


def _formatted(words: Sequence[str]) -> str:
    if words[:1] == ["-v"]:
        return ""
    operands = list(words[1:] if words[:1] == ["--"] else words)
    if not operands:
        return ""
    form = re.sub(r"%[-0-9.]*[bqs]", "%s", unescaped(operands[0]))
    between = form.split("%s")
    places = len(between) - 1
    if not places:
        return form
    given = [unescaped(word) for word in operands[1:]] or [""]
    given += [""] * (-len(given) % places)
    pieces: list[str] = []
    for number, word in enumerate(given):
        pieces += [between[number % places], word]
        if number % places == places - 1:
            pieces.append(between[-1])
    return "".join(pieces)
