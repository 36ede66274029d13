"""Named consoles of a person: a file of addresses with where each token lies."""

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from redshank_shared.domain.errors import Misconfigured, NotFound
from redshank_shared.settings.environment import config_folder


class NamedConsole(msgspec.Struct, frozen=True):
    """Where a console is; its token stands in `token_file`, or in `token` if there is none."""

    url: str
    token_file: str = ""
    token: str = ""


class Contexts(msgspec.Struct, frozen=True):
    current: str = ""
    contexts: dict[str, NamedConsole] = {}


def contexts_path(environ: Mapping[str, str]) -> Path:
    """The file that holds a person's contexts."""
    return config_folder(environ) / "contexts.toml"


def read_contexts(path: Path) -> Contexts:
    """The contexts of a file, none if it is not there; Misconfigured if it is not ours."""
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Contexts)
    except FileNotFoundError:
        return Contexts()
    except (OSError, ValueError) as error:
        raise Misconfigured(f"{path} cannot be used ({error}): mend it or remove it") from error


def pick(contexts: Contexts, name: str, path: Path) -> NamedConsole | None:
    """The context of this name, or the current one; None when neither is asked for."""
    wanted = name or contexts.current
    if not wanted:
        return None
    if wanted not in contexts.contexts:
        known = ", ".join(sorted(contexts.contexts)) or "none yet; `redshank up` writes one"
        raise NotFound(f"{path} has no context {wanted}; there are: {known}", field="context")
    return contexts.contexts[wanted]


def token_of(named: NamedConsole) -> str:
    """The token of a context; Misconfigured if its file cannot be read."""
    if not named.token_file:
        return named.token
    try:
        return Path(named.token_file).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise Misconfigured(
            f"the token file {named.token_file} cannot be read ({error.strerror}): start "
            f"`redshank up` again, or give a token with --token or REDSHANK_TOKEN"
        ) from error


def remember(path: Path, name: str, named: NamedConsole) -> None:
    """Keep a context under its name (mode 0600), current if no other is."""
    before = read_contexts(path)
    contexts = {**before.contexts, name: named}
    lines = [f"current = {json.dumps(before.current or name)}"]
    for title, console in contexts.items():
        lines += ["", f"[contexts.{json.dumps(title)}]"]
        lines += [
            f"{key} = {json.dumps(value)}" for key, value in msgspec.structs.asdict(console).items()
        ]
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = path.with_suffix(".new")
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write("\n".join(lines) + "\n")
    fresh.replace(path)
