"""The documents say what is there: settings, commands, dependencies, files."""

import re
import tomllib
from typing import Any

import msgspec
import pytest
from typer.testing import CliRunner

from redshank_console.cli.exits import (
    FAILED,
    NOT_FOUND,
    OK,
    REFUSED,
    UNREACHED,
    USAGE,
    WAITS_FOR_A_PERSON,
)
from redshank_console.cli.main import app
from redshank_shared.settings.reading import _NOT_IN_A_FILE
from redshank_shared.settings.sections import SECTIONS, Model, ProfileSource
from tests.architecture.sources import ROOT

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMED: list[tuple[str, type[msgspec.Struct]]] = [
    ("models.NAME", Model),
    ("profiles.NAME", ProfileSource),
]
ROW = re.compile(r"^\| `([a-z_]+(?:\.[a-zA-Z_]+)+)` \| ([^|]*) \| ([^|]*) \| ([^|]*) \|$", re.M)


def documented() -> dict[str, str]:
    """Key to default, as docs/configuration.md gives them."""
    text = (ROOT / "docs" / "configuration.md").read_text()
    return {key: default.strip().strip("`") for key, default, _, _ in ROW.findall(text)}


def existing() -> dict[str, str]:
    """Key to default, as the sections have them."""
    found = {}
    for table, kind in [*SECTIONS.items(), *NAMED]:
        for field in msgspec.structs.fields(kind):
            if kind is Model and field.name in _NOT_IN_A_FILE:
                continue
            default = {} if field.default_factory is dict else field.default
            found[f"{table}.{field.name}"] = _as_toml(default)
    return found


def _as_toml(value: Any) -> str:
    if value is msgspec.NODEFAULT:
        return "required"
    if isinstance(value, msgspec.Struct):
        return "{}"
    if isinstance(value, str):
        return f'"{value}"'
    return str(value)


@pytest.mark.req("B-31")
def test_every_setting_is_documented_with_its_default_and_none_besides() -> None:
    assert documented() == existing()


def names_of_commands() -> list[str]:
    done = CliRunner().invoke(app, ["--help"])
    names = re.findall(r"^  ([a-z-]+)  ", done.output.partition("Commands:")[2], re.M)
    for group in ("ws", "approvals", "schedules", "users", "tokens"):
        done = CliRunner().invoke(app, [group, "--help"])
        inner = re.findall(r"^  ([a-z-]+)  ", done.output.partition("Commands:")[2], re.M)
        names = [name for name in names if name != group] + [f"{group} {each}" for each in inner]
    return names


@pytest.mark.req("B-30")
def test_every_command_is_documented() -> None:
    names = names_of_commands()
    assert {"up", "run", "doctor", "ws tail", "approvals allow"} <= set(names)
    text = (ROOT / "docs" / "command-line.md").read_text()
    assert [name for name in names if f"`redshank {name}" not in text] == []


@pytest.mark.req("B-30")
def test_every_exit_code_is_documented() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text()
    codes = (OK, FAILED, USAGE, NOT_FOUND, REFUSED, UNREACHED, WAITS_FOR_A_PERSON)
    assert [code for code in codes if f"| {code} |" not in text] == []


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = [re.split(r"[\[<>=]", each)[0] for each in wanted]
    text = (ROOT / "docs" / "dependencies.md").read_text()
    assert [name for name in names if f"| `{name}` |" not in text] == []


def test_every_dependency_is_pinned_in_the_lock_file() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in (ROOT / "requirements.lock").read_text().splitlines()
    }
    assert {re.split(r"[\[<>=]", each)[0].lower() for each in wanted} <= pinned


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_between_documents_leads_somewhere(document: Any) -> None:
    links = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", document.read_text())
    local = [link for link in links if not link.startswith(("http:", "https:"))]
    assert [link for link in local if not (document.parent / link).exists()] == []


def test_the_guide_for_developers_has_fifteen_lines() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) == 15
