"""Says what one command would destroy, or what it hands on to be run."""

import re
from collections.abc import Callable, Iterator

from redshank_node.tools.support.danger import disks, lists, power, programs, tools
from redshank_node.tools.support.danger.called import (
    ENCODED_RUNS,
    Argv,
    Called,
    Finding,
    Script,
    has,
    loses,
    onto_disk,
    split,
)
from redshank_node.tools.support.danger.targets import is_disk, is_everything, is_vital
from redshank_node.tools.support.danger.words import ENCODED, SOMETHING, is_unknown, literal

SHELLS = frozenset(
    {"sh", "bash", "rbash", "dash", "zsh", "ksh", "mksh", "ash", "yash", "fish", "csh", "tcsh"}
)
_SSH_VALUES = "bcDEeFIiJLlmOopQRSWw"
_INPUT = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")


def findings(called: Called) -> Iterator[Finding]:
    """Why the command destroys a machine, as a text; what it hands on to be run."""
    name = literal(called.words[0])
    text = called.file(called.path) if "/" in called.path else None
    if text is not None and (not text.startswith("#!") or "sh" in text.split("\n", 1)[0]):
        yield from _line(text, called.words)
    if is_unknown(name) and _is_forced(called):
        yield from _rm(called)
    for rule in (
        _shell if name in SHELLS else _RULES.get(name),
        disks.rule(name),
        programs.rule(name),
    ):
        if rule is not None:
            yield from rule(called)


def _is_forced(called: Called) -> bool:
    """Whether a command that nobody can name is told `-rf`, as nothing but `rm` is."""
    options, _ = split(called.words[1:])
    return has(options, "rR", "--recursive") and has(options, "f", "--force")


def _gone(operands: list[str], folder: str, does: str) -> Iterator[str]:
    """What is said of each operand without which the machine does not go on."""
    for operand in operands:
        if is_vital(operand, folder):
            yield f"{does} {literal(operand)}, which the machine needs"


def _rm(called: Called) -> Iterator[Finding]:
    options, operands = split(called.words[1:])
    globs = [operand for operand in operands if operand.rstrip("/")[-1:] in ("*", "?", "]")]
    everything = has(options, "rR", "--recursive")
    yield from loses(operands if everything else globs, called.folder, "deletes")
    yield from _gone(operands, called.folder, "deletes")


def _shred(called: Called) -> Iterator[Finding]:
    _, operands = split(called.words[1:])
    yield from onto_disk(operands)
    globs = [operand for operand in operands if operand.endswith(("*", "?", "]"))]
    yield from loses(globs, called.folder, "empties")
    yield from _gone(operands, called.folder, "empties")


def _tee(called: Called) -> Iterator[Finding]:
    options, operands = split(called.words[1:])
    if not has(options, "a", "--append"):
        yield from _gone(operands, called.folder, "empties")


def _into(called: Called) -> tuple[list[str], list[str]]:
    """(what `mv` or `cp` takes, where it puts that)."""
    words = called.words[1:]
    for place, word in enumerate(words):
        found = re.fullmatch(r"(?:-[a-zA-Z]*t|--target-directory)(?:=(.*))?", word)
        if found and (found[1] or place + 1 < len(words)):
            rest = (*words[:place], *words[place + (1 if found[1] else 2) :])
            return split(rest)[1], [found[1] or words[place + 1]]
    operands = split(words)[1]
    return operands[:-1], operands[-1:]


def _mv(called: Called) -> Iterator[Finding]:
    taken, into = _into(called)
    yield from loses(taken, called.folder, "moves away")
    yield from _gone(taken, called.folder, "moves away")
    yield from onto_disk(into)


def _copier(called: Called) -> Iterator[Finding]:
    yield from onto_disk(_into(called)[1])


def _owner(called: Called) -> Iterator[Finding]:
    options, operands = split(called.words[1:])
    # `chmod -x` is a mode, as is whatever `setfacl -m` takes.
    given = any(
        each.startswith("--reference") or re.fullmatch(r"-[rwxXst]+|[-+=][a-zA-Z]", each)
        for each in called.words[1:]
        if each != "-R"
    )
    targets = operands if given else operands[1:]
    if has(options, "R", "--recursive"):
        yield from loses(targets, called.folder, "changes")
    elif any(is_everything(target, called.folder) == "/" for target in targets):
        yield "changes the root folder itself"


def _rsync(called: Called) -> Iterator[Finding]:
    options, operands = split(called.words[1:])
    if any(option.startswith("--del") for option in options):
        yield from loses(operands[-1:], called.folder, "deletes in")
    if "--remove-source-files" in options:
        yield from loses(operands[:-1], called.folder, "moves away")


def _shell(called: Called) -> Iterator[Finding]:
    words = called.words
    options, operands = split(words[1:])
    for place, word in enumerate(words[1:], 1):
        if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word) and place + 1 < len(words):
            text = place + 1 + (words[place + 1] == "--")
            yield from _line("".join(words[text : text + 1]), words[text + 1 :])
            return
    reads_input = any(re.fullmatch(r"-[a-z]*s[a-z]*", option) for option in options)
    if operands and not reads_input and operands[0] not in _INPUT:
        yield from _sourced(called, operands[0], tuple(operands))
    elif called.stdin is not None:
        yield from _line(called.stdin, ("", *operands))


def _line(text: str, positional: tuple[str, ...] = ()) -> Iterator[Finding]:
    """A text that is run as a line."""
    yield ENCODED_RUNS if ENCODED in text else Script(literal(text), positional)


def _sourced(called: Called, operand: str, positional: tuple[str, ...] = ()) -> Iterator[Finding]:
    """`bash FILE` that the line has written; `bash <(echo LINE)`: what is printed is what runs."""
    text = called.file(operand)
    if text is not None:
        yield from _line(text, positional)
    elif ENCODED in operand or " " in literal(operand):
        yield from _line(operand, positional)


def _eval(called: Called) -> Iterator[Finding]:
    yield from _line(" ".join(literal(word) for word in called.words[1:]))


def _source(called: Called) -> Iterator[Finding]:
    if called.words[1:2] and called.words[1] in _INPUT and called.stdin is not None:
        yield from _line(called.stdin)
    elif len(called.words) > 1:
        yield from _sourced(called, called.words[1], called.words[1:])


def _first_operand(called: Called) -> Iterator[Finding]:
    """`trap LINE SIGNAL`."""
    yield from (Script(literal(word)) for word in split(called.words[1:])[1][:1])


def _watch(called: Called) -> Iterator[Finding]:
    rest = list(called.words[1:])
    while rest and rest[0].startswith("-"):
        if rest.pop(0) in ("-n", "--interval") and rest:
            rest.pop(0)
    yield Script(" ".join(literal(word) for word in rest))


def _with_line(called: Called) -> Iterator[Finding]:
    """`su -c LINE`, `script -c LINE`, `capsh -- -c LINE`; `runuser -u NAME COMMAND`."""
    words = called.words
    for place, word in enumerate(words):
        if re.fullmatch(r"-[a-zA-Z]*c|--command", word) and place + 1 < len(words):
            yield Script(literal(words[place + 1]))
        elif word.startswith("--command="):
            yield Script(literal(word.removeprefix("--command=")))
    if words[0] == "runuser" and "-u" in words:
        run = words[words.index("-u") + 2 :]
        yield Argv(run[1:] if run[:1] == ("--",) else run)


def _alias(called: Called) -> Iterator[Finding]:
    for word in called.words[1:]:
        yield Script(literal(word.partition("=")[2]))


def _ssh(called: Called) -> Iterator[Finding]:
    rest = list(called.words[1:])
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if len(option) == 2 and option[1] in _SSH_VALUES and rest:
            rest.pop(0)
    del rest[:1]
    words = [literal(word) for word in rest if word != "--"]
    line = " ".join(words)
    if line:
        yield Script(line)
    # A shell there reads what comes from here, as does ssh without a command.
    shell = not words or words[0].rpartition("/")[2] in SHELLS
    if shell and called.stdin is not None:
        yield Argv(tuple(words or ["sh"]), called.stdin)


def redirected(path: str, folder: str, operator: str) -> str:
    """Why nothing may be written here; empty where it may."""
    if is_disk(path):
        return "writes onto a disk"
    if operator in (">", ">|", "&>") and SOMETHING not in path and is_vital(path, folder):
        return f"empties {literal(path)}, which the machine needs"
    return ""


_RULES: dict[str, Callable[[Called], Iterator[Finding]]] = {
    **power.RULES,
    **lists.RULES,
    **tools.RULES,
    **dict.fromkeys(("rm", "unlink"), _rm),
    "mv": _mv,
    **dict.fromkeys(("chmod", "chown", "chgrp", "chattr", "setfacl"), _owner),
    **dict.fromkeys(("shred", "truncate"), _shred),
    "tee": _tee,
    **dict.fromkeys(("cp", "install"), _copier),
    "rsync": _rsync,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "trap": _first_operand,
    "watch": _watch,
    **dict.fromkeys(("su", "script", "runuser", "capsh"), _with_line),
    "alias": _alias,
    "ssh": _ssh,
}
