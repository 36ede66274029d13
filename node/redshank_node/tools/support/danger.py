"""Recognises the command lines that nobody means: they wipe a machine, whoever allowed them.

The last fence, not the wall: it reads the words of the line as a shell would split them, one level
into what a wrapper or another shell is told to run. Rules, modes and approvals decide about
everything else.
"""

import os.path
import re
import shlex
from collections.abc import Iterator

_OPERATORS = frozenset(";&|()\n")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
# Each wrapper with the short options of it that take a value.
_WRAPPERS = {
    "sudo": "ugpChDRTr",
    "doas": "uC",
    "env": "uCS",
    "nice": "n",
    "ionice": "cnp",
    "timeout": "ks",
    "nohup": "",
    "command": "",
    "builtin": "",
    "exec": "a",
    "eval": "",
    "time": "fo",
    "setsid": "",
    "stdbuf": "ioe",
    "xargs": "ILnPsdEa",
    "then": "",
    "do": "",
    "else": "",
    "{": "",
    "!": "",
}
_SYSTEM = re.compile(
    r"/|/(bin|boot|dev|etc|home|lib|lib32|lib64|opt|proc|root|sbin|srv|sys|usr|var|Users)"
    r"|/usr/(bin|lib|sbin)|/var/lib"
)
_HOME = re.compile(r"^(~|\$HOME|\$\{HOME\})/*\*?$")
_DISK = re.compile(r"^/dev/(sd|hd|vd|xvd|nvme|mmcblk|disk|md|dm-|mapper/)")
_POWER = frozenset({"shutdown", "reboot", "halt", "poweroff"})
_FORK_BOMB = re.compile(r"(?P<name>[\w:.]+)\s*\(\)\s*\{\s*(?P=name)\s*\|\s*(?P=name)\s*&")
_HERE_DOCUMENT = re.compile(
    r"<<-?\s*(['\"]?)(\w+)\1(?P<rest>[^\n]*)\n.*?^\s*\2$", re.DOTALL | re.MULTILINE
)
_OWNERS = frozenset({"chmod", "chown", "chgrp"})
_FIND_ALL = frozenset({"-delete", "-depth", "-xdev", "-mount"})
_DEPTH = 3


def objection(command: str) -> str | None:
    """Why this command is refused in every mode, naming the part that is meant.

    None for any other (T-20).
    """
    return _objection(command, "", _DEPTH)


def _objection(command: str, folder: str, depth: int) -> str | None:
    if depth == 0:
        return None
    text = _HERE_DOCUMENT.sub(r"<<< HERE\g<rest>", command.replace("\\\n", ""))
    try:
        simple = list(_simple_commands(text))
    except ValueError:
        return None
    if _FORK_BOMB.search(re.sub(r"'[^']*'|\"[^\"]*\"", "''", text)):
        return "the line is a fork bomb"
    for words in simple:
        why = _judged(_unwrapped(words), folder, depth)
        if why:
            return f"{' '.join(words)[:100]!r} {why}"
        if words[:1] == ["cd"] and len(words) > 1:
            folder = words[1]
    return None


def _simple_commands(text: str) -> Iterator[list[str]]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    for word in lexer:
        if word and set(word) <= _OPERATORS:
            if words:
                yield words
            words = []
        else:
            words.append(word)
    if words:
        yield words


def _unwrapped(words: list[str]) -> list[str]:
    """The command that a line of wrappers and assignments runs in the end."""
    rest = list(words)
    while rest:
        name = os.path.basename(rest[0])
        if re.match(r"^\w+=", rest[0]):
            rest.pop(0)
        elif name in _WRAPPERS:
            rest = _after_options(rest[1:], _WRAPPERS[name])
            if name == "timeout" and rest:
                rest.pop(0)
        else:
            return [name, *rest[1:]]
    return rest


def _after_options(words: list[str], take_value: str) -> list[str]:
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        option = rest.pop(0)
        if option == "--":
            break
        if len(option) == 2 and option[1] in take_value and rest:
            rest.pop(0)
    return rest


def _judged(words: list[str], folder: str, depth: int) -> str | None:
    if not words:
        return None
    for place, word in enumerate(words[:-1]):
        if word in (">", ">>", ">|") and _DISK.match(words[place + 1]):
            return "writes onto a disk"
    name, options, operands = words[0], *_split(words[1:])
    if name in _SHELLS:
        return _shell(words, folder, depth)
    if " " in name:
        return _nested(" ".join(words), folder, depth)
    return _named(name, options, operands, folder)


def _named(name: str, options: list[str], operands: list[str], folder: str) -> str | None:
    targets = [_target(operand, folder) for operand in operands]
    why = None
    if name == "rm" and _has(options, "rR", "--recursive") and any(targets):
        why = "deletes a whole system or home folder"
    elif name in _OWNERS and _has(options, "R", "--recursive") and any(targets[1:]):
        why = "changes a whole system folder"
    elif name == "find" and "-delete" in options and _FIND_ALL.issuperset(options) and any(targets):
        why = "deletes from a system folder on"
    elif name.startswith("mkfs") or name == "wipefs":
        why = "destroys what is on a disk"
    elif name in ("tee", "shred", "dd") and any(_DISK.match(path) for path in _written(operands)):
        why = "writes onto a disk"
    elif name in _POWER:
        why = "stops the machine"
    return why


def _written(operands: list[str]) -> list[str]:
    return [path.removeprefix("of=") for path in operands if not path.startswith("if=")]


def _shell(words: list[str], folder: str, depth: int) -> str | None:
    for place, word in enumerate(words[1:], 1):
        if re.match(r"^-[a-z]*c[a-z]*$", word) and place + 1 < len(words):
            return _nested(words[place + 1], folder, depth)
    return None


def _nested(command: str, folder: str, depth: int) -> str | None:
    why = _objection(command, folder, depth - 1)
    return f"runs {why}" if why else None


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    if "--" in words:
        end = words.index("--")
        options, operands = _split(words[:end])
        return options, operands + words[end + 1 :]
    options = [word for word in words if word.startswith("-") and len(word) > 1]
    return options, [word for word in words if word not in options]


def _has(options: list[str], letters: str, long: str) -> bool:
    return any(
        option == long or (option[:2] != "--" and any(letter in option for letter in letters))
        for option in options
    )


def _target(operand: str, folder: str) -> bool:
    """Whether the operand is the root, a system folder or the home, itself or all in it."""
    if operand in ("*", ".", "./*") and folder:
        return _target(folder, "")
    if _HOME.match(operand):
        return True
    if not operand.startswith("/"):
        return False
    path = os.path.normpath(re.sub(r"/\*$", "/", operand))
    return _SYSTEM.fullmatch(re.sub(r"^/+", "/", path)) is not None
