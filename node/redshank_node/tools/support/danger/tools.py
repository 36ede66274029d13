"""Finds the lines that other tools take along to have them run: editors, git, tar, at, make."""

import itertools
import re
from collections.abc import Callable, Iterator

from redshank_node.tools.support.danger.called import (
    ENCODED_RUNS,
    Argv,
    Called,
    Finding,
    Script,
)
from redshank_node.tools.support.danger.targets import is_everything
from redshank_node.tools.support.danger.words import ENCODED, literal

# Variables whose value a program runs.
RUN_VALUES = re.compile(
    r"(GIT_(PAGER|EDITOR|SEQUENCE_EDITOR|SSH_COMMAND|EXTERNAL_DIFF|ASKPASS)|PAGER|MANPAGER|EDITOR"
    r"|VISUAL|PROMPT_COMMAND|LESSOPEN)="
)
_GIT_RUNS = re.compile(
    r"(alias\.[\w-]+|core\.(pager|editor|sshcommand|fsmonitor))(=(.*))?", re.I | re.S
)
_TAR_RUNS = re.compile(r"--(?:checkpoint-action=exec|to-command|use-compress-program)=(.*)", re.S)
_SCHEDULE = re.compile(r"\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+(.*)")

_MOUNT = re.compile(r"([^:]+):(/[^:]+)(:.*)?")
_MOST_BEFORE = 20


def _editor(called: Called) -> Iterator[Finding]:
    """`vim -c '!LINE'`, `vim +'!LINE'`."""
    for word in map(literal, called.words[1:]):
        text = word.removeprefix("+").lstrip(": ")
        if text.startswith("!"):
            yield Script(text[1:])


def _git(called: Called) -> Iterator[Finding]:
    words = [literal(word) for word in called.words[1:]]
    for word, following in itertools.zip_longest(words, words[1:], fillvalue=""):
        found = _GIT_RUNS.fullmatch(word)
        if not found:
            continue
        value = found[4] if found[3] else following
        if not found[1].lower().startswith("alias."):
            yield Script(value)
        elif value.startswith("!"):
            yield Script(value[1:])


def _tar(called: Called) -> Iterator[Finding]:
    for word in map(literal, called.words[1:]):
        if found := _TAR_RUNS.fullmatch(word):
            yield Script(found[1])


def _later(called: Called) -> Iterator[Finding]:
    """`at` and `batch` run what they read."""
    if called.stdin is not None:
        yield ENCODED_RUNS if ENCODED in called.stdin else Script(called.stdin)


def _crontab(called: Called) -> Iterator[Finding]:
    for line in (called.stdin or "").split("\n"):
        if found := _SCHEDULE.fullmatch(line):
            yield Script(found[1])


def _make(called: Called) -> Iterator[Finding]:
    recipe = re.findall(r"(?m)(?:^\t|;)[@-]*(.*)$", called.stdin or "")
    if recipe and {"-f", "-f-", "--file=-", "--makefile=-"}.intersection(called.words):
        yield Script("\n".join(recipe).replace("$$", "$"))


def _container(called: Called) -> Iterator[Finding]:
    """`docker run -v /:/DST IMAGE COMMAND`: what the command does there it does here."""
    words = list(called.words[1:])
    for place, word in enumerate(words):
        found = _MOUNT.fullmatch(literal(word).partition("=")[2] or literal(word))
        if not found or not is_everything(found[1], called.folder) or "ro" in (found[3] or ""):
            continue
        inside = [each.replace(found[2], found[1]) for each in words[place + 1 :]]
        # Where the image's name stands nobody can tell: each word may begin the command.
        for at, each in enumerate(inside[:_MOST_BEFORE]):
            if not each.startswith("-"):
                yield Argv(tuple(inside[at:]))


RULES: dict[str, Callable[[Called], Iterator[Finding]]] = {
    **dict.fromkeys(("vi", "vim", "nvim", "ex", "view"), _editor),
    "git": _git,
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    "at": _later,
    "batch": _later,
    "crontab": _crontab,
    **dict.fromkeys(("make", "gmake"), _make),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _container),
}
