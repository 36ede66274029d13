"""Reads the files that put Redshank somewhere, as those who run them would."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from redshank_shared.settings.environment import PREFIX
from redshank_shared.settings.load import load
from redshank_shared.settings.sections import Settings
from tests.architecture.sources import ROOT

DEPLOY = ROOT / "deploy"
# What the node adds to its grace: the intake's end, the server's.
HAND_OVER_SECONDS = 3
_REFERENCE = re.compile(r"\$\$|\$\{(?P<name>\w+)(?:(?P<operator>:[-?+])(?P<word>[^}]*))?\}")


class Unset(Exception):
    """A variable that compose demands was not given; says what compose says."""


def interpolated(value: Any, given: Mapping[str, str]) -> Any:
    """A part of a compose file with its `${…}` replaced as compose does."""
    if isinstance(value, dict):
        return {key: interpolated(each, given) for key, each in value.items()}
    if isinstance(value, list):
        return [interpolated(each, given) for each in value]
    if not isinstance(value, str):
        return value

    def replace(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        name, operator, word = found["name"], found["operator"], found["word"]
        said = given.get(name, "")
        if operator == ":-":
            return said or word
        if operator == ":+":
            return word if said else ""
        if operator == ":?" and not said:
            raise Unset(f"{name}: {word}")
        return said

    return _REFERENCE.sub(replace, value)


def compose(given: Mapping[str, str]) -> dict[str, Any]:
    """deploy/compose.yaml under these variables; raises Unset where it demands another."""
    found = interpolated(yaml.safe_load((DEPLOY / "compose.yaml").read_text()), given)
    assert isinstance(found, dict)
    return found


def settings_under(environment: Mapping[str, str]) -> Settings:
    """What a Redshank process makes of this environment; Misconfigured for a key it does not know.

    A variable of ours without a table would be passed over in silence: it fails here.
    """
    ours = [name for name in environment if name.startswith(PREFIX)]
    assert [name for name in ours if "__" not in name] == []
    return load(None, {"HOME": "/nowhere", **environment})


def seconds(text: str) -> int:
    """A duration of compose or systemd that is written in seconds."""
    return int(text.removesuffix("s"))


def unit(name: str) -> dict[str, list[str]]:
    """A systemd unit: each directive with all its values, in order."""
    directives: dict[str, list[str]] = {}
    for line in (DEPLOY / "systemd" / name).read_text().splitlines():
        key, separator, value = line.partition("=")
        if separator and not line.startswith("#"):
            directives.setdefault(key, []).append(value)
    return directives


def environment_of(assignments: Iterable[str]) -> dict[str, str]:
    """`KEY=VALUE` lines as a mapping."""
    return dict(each.split("=", 1) for each in assignments)
