"""Says what one command would destroy, or what it hands on to be run."""

import re
from collections.abc import Callable, Iterator

import msgspec

from redshank_node.tools.support.danger_targets import is_disk, is_everything, unguarded
from redshank_node.tools.support.danger_words import literal

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
DECODERS = frozenset({"base64", "base32", "basenc", "xxd", "uudecode", "openssl"})
_ENCODED = "runs encoded text, which nobody can read before; write it plainly"
_POWER = frozenset({"shutdown", "reboot", "halt", "poweroff", "killall5"})
_FIND_ALL = frozenset(
    {"-delete", "-depth", "-xdev", "-mount", "-print", "-print0", "-maxdepth", "-mindepth", "-type"}
)
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_XARGS_VALUES = "ILnPsdEa"
_SSH_VALUES = "bcDEeFIiJLlmOopQRSWw"


class Called(msgspec.Struct, frozen=True):
    """A command about to run. `words` still tell quoted characters from others; `stdin` is what it
    reads, where that can be told; `encoded`: it reads what a decoder writes; `decodes`: a decoder
    writes one of its words; `listed`: the folders whose contents are listed to it.
    """

    words: tuple[str, ...]
    folder: str = ""
    stdin: str | None = None
    encoded: bool = False
    decodes: bool = False
    listed: tuple[str, ...] = ()


class Script(msgspec.Struct, frozen=True):
    """A line that the command has run, with the words that follow it as `$0`, `$1` and so on."""

    text: str
    positional: tuple[str, ...] = ()


class Argv(msgspec.Struct, frozen=True):
    """Words that the command runs as a command."""

    words: tuple[str, ...]


Finding = str | Script | Argv


def findings(called: Called) -> Iterator[Finding]:
    """Why the command destroys a machine, as a text; what it hands on to be run."""
    name = literal(called.words[0])
    if name in SHELLS:
        yield from _shell(called)
    elif name.startswith("mkfs") or name in ("mke2fs", "mkswap", "wipefs", "blkdiscard"):
        yield from _device(called)
    elif name in _POWER:
        yield "stops the machine"
    elif name in _RULES:
        yield from _RULES[name](called)


def split(words: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Options and operands, wherever they stand; all behind `--` are operands."""
    options: list[str] = []
    operands: list[str] = []
    for place, word in enumerate(words):
        if word == "--":
            return options, operands + list(words[place + 1 :])
        (options if word.startswith("-") and len(word) > 1 else operands).append(word)
    return options, operands


def finds_all(words: tuple[str, ...]) -> bool:
    """Whether a `find` chooses by nothing but depth or type, so that it means all there is."""
    tests = [word for word in words[1:] if word.startswith("-")]
    until = next((at for at, word in enumerate(tests) if word in _FIND_RUNS), len(tests))
    return _FIND_ALL.issuperset(tests[:until])


def roots_of(words: tuple[str, ...]) -> tuple[str, ...]:
    """The folders where a `find` begins, the one it stands in where it names none."""
    roots = []
    for word in words[1:]:
        if word.startswith(("-", "(", "!")):
            break
        roots.append(word)
    return tuple(roots) or (".",)


def _has(options: list[str], letters: str, long: str) -> bool:
    return any(
        len(option) > 3 and long.startswith(option)
        if option.startswith("--")
        else any(letter in option for letter in letters)
        for option in options
    )


def _loses(operands: list[str], folder: str, does: str) -> Iterator[str]:
    for operand in operands:
        meant = is_everything(operand, folder)
        if meant and unguarded(operand):
            yield f"{does} {meant} if a variable in it is unset; write ${{NAME:?}} there"
        elif meant:
            yield f"{does} {meant}, a whole system or home folder"


def _rm(called: Called) -> Iterator[Finding]:
    options, operands = split(called.words[1:])
    globs = [operand for operand in operands if operand.rstrip("/")[-1:] in ("*", "?", "]")]
    everything = _has(options, "rR", "--recursive")
    yield from _loses(operands if everything else globs, called.folder, "deletes")


def _mv(called: Called) -> Iterator[Finding]:
    _, operands = split(called.words[1:])
    yield from _loses(operands[:-1], called.folder, "moves away")
    yield from _onto_disk(operands[-1:])


def _owner(called: Called) -> Iterator[Finding]:
    options, operands = split(called.words[1:])
    targets = operands if any(each.startswith("--reference") for each in options) else operands[1:]
    if _has(options, "R", "--recursive"):
        yield from _loses(targets, called.folder, "changes")
    elif any(is_everything(target, called.folder) == "/" for target in targets):
        yield "changes the root folder itself"


def _find(called: Called) -> Iterator[Finding]:
    words = called.words
    everything = finds_all(words)
    roots = roots_of(words)
    if "-delete" in words and everything:
        yield from _loses(list(roots), called.folder, "deletes")
    for place, word in enumerate(words):
        if word in _FIND_RUNS:
            run = words[place + 1 :]
            end = next((at for at, each in enumerate(run) if each in (";", "+")), len(run))
            for root in roots if everything else ("",):
                yield Argv(tuple(each.replace("{}", root) if root else each for each in run[:end]))


def _xargs(called: Called) -> Iterator[Finding]:
    rest = list(called.words[1:])
    stands_for = ""
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        value = option[2:]
        if option[:2] != "--" and len(option) == 2 and option[1] in _XARGS_VALUES and rest:
            value = rest.pop(0)
        if option.startswith("-I"):
            stands_for = value
    given = called.listed or tuple((called.stdin or "").replace("\0", "\n").split())
    if stands_for:
        for each in given:
            yield Argv(tuple(word.replace(stands_for, each) for word in rest))
    yield Argv((*rest, *given))


def _device(called: Called) -> Iterator[Finding]:
    _, operands = split(called.words[1:])
    if any(is_disk(operand) for operand in operands):
        yield "destroys what is on a disk"


def _dd(called: Called) -> Iterator[Finding]:
    yield from _onto_disk([word[3:] for word in called.words[1:] if word.startswith("of=")])


def _writer(called: Called) -> Iterator[Finding]:
    yield from _onto_disk(split(called.words[1:])[1])


def _copier(called: Called) -> Iterator[Finding]:
    yield from _onto_disk(split(called.words[1:])[1][-1:])


def _onto_disk(paths: list[str]) -> Iterator[str]:
    if any(is_disk(path) for path in paths):
        yield "writes onto a disk"


def _rsync(called: Called) -> Iterator[Finding]:
    options, operands = split(called.words[1:])
    if any(option.startswith("--del") for option in options):
        yield from _loses(operands[-1:], called.folder, "deletes in")


def _systemctl(called: Called) -> Iterator[Finding]:
    wanted = ("poweroff", "reboot", "halt", "kexec", "soft-reboot", "rescue", "emergency")
    if any(word in wanted for word in split(called.words[1:])[1]):
        yield "stops the machine"


def _init(called: Called) -> Iterator[Finding]:
    if called.words[1:2] in (("0",), ("6",)):
        yield "stops the machine"


def _kill(called: Called) -> Iterator[Finding]:
    """A signal to -1 goes to every process there is."""
    words = [word for word in called.words[1:] if word != "--"]
    if len(words) > 1 and "-1" in words[1:]:
        yield "kills every process that it may"


def _shell(called: Called) -> Iterator[Finding]:
    words = called.words
    options, operands = split(words[1:])
    if called.decodes:
        yield _ENCODED
    for place, word in enumerate(words[1:], 1):
        if re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word) and place + 1 < len(words):
            yield Script(literal(words[place + 1]), words[place + 2 :])
            return
    reads_input = any(re.fullmatch(r"-[a-z]*s[a-z]*", option) for option in options)
    if operands and not reads_input:
        yield from _sourced(operands[0])
    elif called.encoded:
        yield _ENCODED
    elif called.stdin is not None:
        yield Script(called.stdin, ("", *operands))


def _sourced(operand: str) -> Iterator[Finding]:
    """`bash <(echo LINE)`: what is printed is what runs."""
    text = literal(operand)
    if " " in text:
        yield Script(text)


def _eval(called: Called) -> Iterator[Finding]:
    if called.decodes:
        yield _ENCODED
    yield Script(" ".join(literal(word) for word in called.words[1:]))


def _source(called: Called) -> Iterator[Finding]:
    if called.decodes:
        yield _ENCODED
    elif called.words[1:2] == ("/dev/stdin",) and called.stdin is not None:
        yield Script(called.stdin)
    elif len(called.words) > 1:
        yield from _sourced(called.words[1])


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
    """`su -c LINE`, `script -c LINE`, `runuser -c LINE`."""
    words = called.words
    for place, word in enumerate(words[:-1]):
        if re.fullmatch(r"-[a-zA-Z]*c|--command", word):
            yield Script(literal(words[place + 1]))
    if words[0] == "runuser" and "--" in words:
        yield Argv(words[words.index("--") + 1 :])


def _alias(called: Called) -> Iterator[Finding]:
    for word in called.words[1:]:
        yield Script(literal(word.partition("=")[2]))


def _ssh(called: Called) -> Iterator[Finding]:
    rest = list(called.words[1:])
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if len(option) == 2 and option[1] in _SSH_VALUES and rest:
            rest.pop(0)
    yield Script(" ".join(literal(word) for word in rest[1:]))


_RULES: dict[str, Callable[[Called], Iterator[Finding]]] = {
    "rm": _rm,
    "mv": _mv,
    "chmod": _owner,
    "chown": _owner,
    "chgrp": _owner,
    "find": _find,
    "xargs": _xargs,
    "parallel": _xargs,
    "dd": _dd,
    "tee": _writer,
    "shred": _writer,
    "truncate": _writer,
    "cp": _copier,
    "install": _copier,
    "rsync": _rsync,
    "systemctl": _systemctl,
    "init": _init,
    "telinit": _init,
    "kill": _kill,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "trap": _first_operand,
    "watch": _watch,
    "su": _with_line,
    "script": _with_line,
    "runuser": _with_line,
    "alias": _alias,
    "ssh": _ssh,
}
