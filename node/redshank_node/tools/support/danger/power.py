"""Says which commands stop the machine or all that runs on it."""

import posixpath
import re
from collections.abc import Callable, Iterator

from redshank_node.tools.support.danger.called import STOPS, Called, Finding, split
from redshank_node.tools.support.danger.words import literal

_HARMLESS = frozenset({"--help", "--version", "-c", "--show", "-w", "--wtmp-only"})
_STATES = ("poweroff", "reboot", "halt", "kexec", "soft-reboot", "rescue", "emergency")
_TARGETS = tuple(f"{state}.target" for state in (*_STATES, "shutdown"))
_LOGIN = re.compile(r"org\.freedesktop\.login1\.Manager(\.(PowerOff|Reboot|Halt))?$")
_ALL_NAMES = frozenset({".", ".*", ".+", "^", "^.*", ""})
_ENDS = frozenset({"", "9", "15", "2", "3", "6", "KILL", "TERM", "INT", "QUIT", "ABRT"})


def _power(called: Called) -> Iterator[Finding]:
    folder = posixpath.dirname(called.path)
    own_program = folder and not folder.startswith("/") and not folder.startswith("..")
    if not own_program and not _HARMLESS.intersection(called.words[1:]):
        yield STOPS


def _systemctl(called: Called) -> Iterator[Finding]:
    operands = split(called.words[1:])[1]
    verb = "".join(operands[:1])
    starts = verb in ("start", "isolate", "restart")
    if verb in _STATES or (starts and any(operand in _TARGETS for operand in operands[1:])):
        yield STOPS


def _init(called: Called) -> Iterator[Finding]:
    if called.words[1:2] and called.words[1] in ("0", "6", "1", "s", "S"):
        yield STOPS


def _loginctl(called: Called) -> Iterator[Finding]:
    if split(called.words[1:])[1][:1] in (["poweroff"], ["reboot"], ["halt"]):
        yield STOPS


def _kexec(called: Called) -> Iterator[Finding]:
    if {"-e", "--exec"}.intersection(called.words[1:]):
        yield STOPS


def _message(called: Called) -> Iterator[Finding]:
    """`busctl call` and `dbus-send` to the one that stops machines."""
    asked = {word for word in called.words[1:] if _LOGIN.match(word)}
    if any("." in word.removeprefix("org.freedesktop.login1.Manager") for word in asked) or (
        asked and {"PowerOff", "Reboot", "Halt"}.intersection(called.words)
    ):
        yield STOPS


def _kill(called: Called) -> Iterator[Finding]:
    """A signal to -1 goes to every process there is; the first process is the machine's."""
    words = list(called.words[1:])
    signal = ""
    if words[:1] in (["-s"], ["-n"], ["--signal"]):
        signal, words = "".join(words[1:2]), words[2:]
    elif words and re.fullmatch(r"-\w+", words[0]):
        signal, words = words[0][1:], words[1:]
    behind = words[words.index("--") + 1 :] if "--" in words else words
    if signal in ("l", "L"):
        return
    if "-1" in behind:
        yield "kills every process that it may"
    elif "1" in behind and signal.upper().removeprefix("SIG") in _ENDS:
        yield STOPS


def _killall(called: Called) -> Iterator[Finding]:
    """`pkill PATTERN`, `killall -r PATTERN` with one that every name fits."""
    words = called.words
    by_pattern = words[0] == "pkill" or {"-r", "--regexp"}.intersection(words)
    if by_pattern and any(literal(word) in _ALL_NAMES for word in words[1:]):
        yield "kills every process that it may"


RULES: dict[str, Callable[[Called], Iterator[Finding]]] = {
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff", "killall5"), _power),
    "systemctl": _systemctl,
    "init": _init,
    "telinit": _init,
    "loginctl": _loginctl,
    "kexec": _kexec,
    "busctl": _message,
    "dbus-send": _message,
    "kill": _kill,
    "pkill": _killall,
    "killall": _killall,
}
