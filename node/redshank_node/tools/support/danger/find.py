"""Tells what a `find` means: where it begins, whether it chooses among what is there."""

import fnmatch
from collections.abc import Sequence

RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_BEFORE_ROOTS = ("-L", "-H", "-P", "-O", "-D")
_OR = frozenset({"-o", "-or", ","})
# Tests that leave the most of a machine: kinds, depths, owners, times.
_WIDE = frozenset(
    {
        *("-delete", "-depth", "-d", "-xdev", "-mount", "-print", "-print0", "-ls", "-follow"),
        *("-maxdepth", "-mindepth", "-type", "-user", "-group", "-uid", "-gid", "-noleaf"),
        *("-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-daystart", "-a", "-and"),
        *("-readable", "-writable", "-executable", "-ignore_readdir_race", "-true"),
    }
)
_NAMES = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"})
_PROBES = ("/usr/a.b", "/home/Library.txt", "/zeta.9")


def finds_all(words: Sequence[str]) -> bool:
    """Whether a `find` takes nearly all there is: it chooses by depth, type, owner, age alone, by a
    pattern that all names fit, or by what is not meant.
    """
    alternatives: list[list[str]] = [[]]
    for word in words[1:]:
        if word in _OR:
            alternatives.append([])
        else:
            alternatives[-1].append(word)
    acting = [each for each in alternatives if any(_acts(word) for word in each)]
    return any(not _chooses(each) for each in acting or alternatives)


def roots_of(words: Sequence[str]) -> tuple[str, ...]:
    """The folders where a `find` begins, the one it stands in where it names none."""
    roots: list[str] = []
    for word in words[1:]:
        if not roots and word.startswith(_BEFORE_ROOTS):
            continue
        if word.startswith(("-", "(", "!")):
            break
        roots.append(word)
    return tuple(roots) or (".",)


def _acts(word: str) -> bool:
    return word == "-delete" or word in RUNS


def _chooses(tests: Sequence[str]) -> bool:
    negated = False
    for place, word in enumerate(tests):
        if _acts(word):
            return False
        if word in ("!", "-not"):
            negated = True
            continue
        if word.startswith("-") and not word.startswith(_BEFORE_ROOTS) and word not in _WIDE:
            value = tests[place + 1] if place + 1 < len(tests) else ""
            if not negated and not _takes_all(word, value):
                return True
            negated = False
    return False


def _takes_all(test: str, value: str) -> bool:
    if test in _NAMES:
        ends = (probe if "path" in test or "whole" in test else probe[1:] for probe in _PROBES)
        return all(fnmatch.fnmatchcase(end, value) for end in ends)
    if test in ("-regex", "-iregex"):
        return value in (".*", ".+", "/.*", "^.*$")
    return test == "-size" and value.startswith("+0")
