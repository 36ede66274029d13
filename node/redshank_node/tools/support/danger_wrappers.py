"""Finds the command that a line of wrappers runs in the end."""

import posixpath
import re

import msgspec

# Each wrapper with the short options of it that take a value.
_OPTIONS = {
    "sudo": "ugpChDRTr",
    "doas": "uC",
    "pkexec": "",
    "env": "uC",
    "nice": "n",
    "ionice": "cnp",
    "chrt": "T",
    "taskset": "",
    "timeout": "ks",
    "nohup": "",
    "command": "",
    "builtin": "",
    "exec": "a",
    "time": "fo",
    "setsid": "",
    "stdbuf": "ioe",
    "unshare": "SG",
    "nsenter": "tSG",
    "chroot": "",
    "setarch": "",
    "linux32": "",
    "linux64": "",
    "strace": "eopPsE",
    "ltrace": "eop",
    "fakeroot": "l",
    "busybox": "",
    "toybox": "",
    "coproc": "",
    "systemd-run": "pu",
    "flock": "wE",
    "xvfb-run": "nes",
}
# How many words stand between a wrapper's options and the command.
_BEFORE = {"timeout": 1, "taskset": 1, "chrt": 1, "chroot": 1, "setarch": 1, "flock": 1}
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_MOST_WRAPPERS = 40
_FOLDER_OPTIONS = {"env": ("-C", "--chdir"), "sudo": ("-D", "--chdir")}


class Unwrapped(msgspec.Struct, frozen=True):
    """`words`: the command itself, its name without a folder. `text`: what a wrapper takes as a
    line of its own. `folder`: where a wrapper sends it, empty where none does.
    """

    words: tuple[str, ...]
    text: str = ""
    folder: str = ""


def unwrapped(words: list[str]) -> Unwrapped:
    """The command behind assignments, `sudo`, `env`, `timeout` and their like."""
    rest = list(words)
    folder = ""
    for _ in range(_MOST_WRAPPERS):
        while rest and ASSIGNMENT.match(rest[0]):
            rest.pop(0)
        if not rest:
            return Unwrapped((), folder=folder)
        name = posixpath.basename(rest[0])
        if name not in _OPTIONS:
            return Unwrapped((name, *rest[1:]), folder=folder)
        options, rest = _after_options(rest[1:], _OPTIONS[name])
        folder = _value(options, _FOLDER_OPTIONS.get(name, ())) or folder
        if text := _line(name, options, rest):
            return Unwrapped((), text, folder)
        while name == "env" and rest and ASSIGNMENT.match(rest[0]):
            rest.pop(0)
        del rest[: _BEFORE.get(name, 0)]
    return Unwrapped((), " ".join(rest), folder)


def _line(name: str, options: list[str], rest: list[str]) -> str:
    """The line that `env -S` and `flock -c` take."""
    if name == "env":
        for place, option in enumerate(options):
            if option.startswith(("-S", "--split-string")):
                text = option.removeprefix("--split-string").removeprefix("-S").removeprefix("=")
                return " ".join([text, *options[place + 1 :], *rest]).strip()
    if name == "flock":
        for place, word in enumerate(rest):
            if word in ("-c", "--command") and place + 1 < len(rest):
                return rest[place + 1]
    return ""


def _value(options: list[str], names: tuple[str, ...]) -> str:
    for place, option in enumerate(options):
        for name in names:
            if option == name and place + 1 < len(options):
                return options[place + 1]
            if option.startswith(f"{name}="):
                return option.removeprefix(f"{name}=")
    return ""


def _after_options(words: list[str], take_value: str) -> tuple[list[str], list[str]]:
    options: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        option = rest.pop(0)
        options.append(option)
        if option == "--":
            break
        if option[:2] != "--" and option[-1] in take_value and rest or option == "--chdir" and rest:
            options.append(rest.pop(0))
    return options, rest
