"""The image: built in stages, run by nobody special, the page within."""

import json
import re
import tomllib

import pytest

from tests.architecture.sources import ROOT
from tests.contract.deployed import DEPLOY

Instruction = tuple[str, str]


def stages() -> list[list[Instruction]]:
    """The Dockerfile's instructions, each stage's beginning with its FROM."""
    text = re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.M)
    found: list[list[Instruction]] = []
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        name, _, rest = line.partition(" ")
        if name == "FROM":
            found.append([])
        if name:
            found[-1].append((name, rest.strip()))
    return found


def values(stage: list[Instruction], name: str) -> list[str]:
    return [rest for each, rest in stage if each == name]


def test_what_builds_stays_behind() -> None:
    *before, last = stages()
    assert [values(stage, "FROM")[0].split(" AS ")[1] for stage in before] == ["page", "wheels"]
    ran = " ".join(values(last, "RUN"))
    for tool in ("npm", "gcc", "pip wheel", "hatchling"):
        assert tool not in ran
    assert values(last, "COPY") == []


def test_every_base_is_pinned_to_a_patch() -> None:
    for stage in stages():
        image = values(stage, "FROM")[0].split(" AS ")[0]
        assert re.fullmatch(r"[a-z]+:\d+\.\d+\.\d+-(slim-bookworm|bookworm-slim)", image), image


def test_python_is_the_same_where_wheels_are_made_as_where_they_run() -> None:
    _, wheels, last = stages()
    assert values(wheels, "FROM")[0].split(" AS ")[0] == values(last, "FROM")[0]


def test_it_does_not_run_as_root_which_kubernetes_can_see() -> None:
    assert values(stages()[-1], "USER") == ["10001:10001"]


def test_only_what_the_lock_pins_is_installed() -> None:
    _, wheels, last = stages()
    for ran in values(wheels, "RUN"):
        assert "--constraint requirements.lock" in ran
    (installs,) = [ran for ran in values(last, "RUN") if "pip install" in ran]
    assert "--no-index --find-links /wheels" in installs


def test_the_developers_tools_are_not_asked_for() -> None:
    asked = " ".join(ran for stage in stages() for ran in values(stage, "RUN"))
    assert "-r requirements.lock" not in asked
    assert "--group dev" not in asked


def test_the_page_goes_into_the_wheel() -> None:
    page, wheels, _ = stages()
    folder = "console/redshank_console/page/"
    assert f"--from=page /src/{folder} {folder}" in values(wheels, "COPY")
    build = json.loads((ROOT / "console" / "web" / "package.json").read_text())["scripts"]["build"]
    assert "--outDir ../redshank_console/page " in build
    assert values(page, "WORKDIR") == ["/src/console/web"]


def test_the_wheels_packages_are_all_there_to_be_built() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    copied = [each.split()[0] for each in values(stages()[1], "COPY")]
    for package in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        assert any(package.startswith(each.rstrip("/")) for each in copied), package
    assert any(project["project"]["readme"] in each for each in values(stages()[1], "COPY"))


def test_extras_that_are_named_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (DEPLOY / "Dockerfile").read_text()
    named = set(re.findall(r'"(?:\.|redshank)\[(\w+)\]"', text))
    assert named <= set(project.get("optional-dependencies", {}))


def test_redshank_is_what_it_runs_with_signals_passed_on() -> None:
    last = stages()[-1]
    assert json.loads(values(last, "ENTRYPOINT")[0]) == ["tini", "--", "redshank"]
    assert json.loads(values(last, "CMD")[0]) == ["console"]


def test_it_is_asked_for_its_health() -> None:
    (check,) = values(stages()[-1], "HEALTHCHECK")
    assert "--timeout=" in check
    assert '"$HEALTH_URL"' in check
    assert "--fail" in check


@pytest.mark.parametrize("secret", ["TOKEN", "PASSWORD", "SECRET", "API_KEY"])
def test_no_secret_is_baked_in(secret: str) -> None:
    for stage in stages():
        for given in values(stage, "ENV") + values(stage, "ARG"):
            assert secret not in given


def test_only_named_sources_are_sent_to_the_builder() -> None:
    lines = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    assert lines[0] == "*"
    assert {line for line in lines if line.startswith("!")} == {
        "!requirements.lock",
        "!pyproject.toml",
        "!README.md",
        "!shared",
        "!node",
        "!gateway",
        "!console",
    }
