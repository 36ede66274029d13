"""Finds the command that a line of wrappers runs in the end."""

import posixpath
import re

import msgspec

# Each wrapper with the short options of it that take a value.
_OPTIONS: dict[str, str] = {
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
    "catchsegv": "",
    "firejail": "",
    "proxychains": "f",
    "proxychains4": "f",
    "torsocks": "",
    "dbus-run-session": "",
    "unbuffer": "",
    "setpriv": "",
    "gosu": "",
    "su-exec": "",
    "caffeinate": "tw",
    "prlimit": "",
    "cgexec": "g",
    "cpulimit": "lpe",
    "faketime": "f",
    "sshpass": "pPfe",
    "rlwrap": "",
    "chronic": "",
    "eatmydata": "",
    "systemd-run": "pu",
    "flock": "wE",
    "xvfb-run": "nes",
}
# How many words stand between a wrapper's options and the command.
_BEFORE = {
    **{"timeout": 1, "taskset": 1, "chrt": 1, "chroot": 1, "setarch": 1, "flock": 1},
    **{"gosu": 1, "su-exec": 1, "faketime": 1},
}
# Long options that take the next word, where they have no value of their own behind =.
_LONG = frozenset(
    {
        *("--user", "--group", "--prompt", "--chdir", "--host", "--role", "--other-user"),
        *("--unset", "--adjustment", "--class", "--classdata", "--kill-after", "--signal"),
        *("--input", "--output", "--error", "--format", "--target", "--reuid", "--regid"),
        *("--wait", "--timeout", "--unit", "--property", "--uid", "--gid", "--pid", "--limit"),
    }
)
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*\+?=")
_MOST_WRAPPERS = 40
_FOLDER_OPTIONS = {"env": ("-C", "--chdir"), "sudo": ("-D", "--chdir")}


class Unwrapped(msgspec.Struct, frozen=True):
    """`words`: the command itself, its name without a folder; `path`: with it. `text`: what a
    wrapper takes as a line of its own. `folder`: where a wrapper sends it, empty where none does.
    """

    words: tuple[str, ...]
    text: str = ""
    folder: str = ""
    path: str = ""


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
        # `command -v NAME` only looks it up.
        if name not in _OPTIONS or (name == "command" and rest[1:2] in (["-v"], ["-V"])):
            return Unwrapped((name, *rest[1:]), folder=folder, path=rest[0])
        options, rest = _after_options(rest[1:], name)
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


def _after_options(words: list[str], name: str) -> tuple[list[str], list[str]]:
    take_value = _OPTIONS[name]
    options: list[str] = []
    rest = list(words)
    while rest and rest[0].startswith("-") and (rest[0] != "-" or name == "env"):
        option = rest.pop(0)
        options.append(option)
        if option == "--":
            break
        short = option[:2] != "--" and option[-1] in take_value
        if rest and (short or (option in _LONG and not _is_flag(name, option))):
            options.append(rest.pop(0))
    return options, rest


def _is_flag(name: str, option: str) -> bool:
    """Whether the option, which takes a value elsewhere, takes none of this wrapper's."""
    return (name, option) in (("systemd-run", "--user"), ("systemd-run", "--wait"))
