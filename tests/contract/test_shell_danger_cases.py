"""The danger check against every line of its cases; nothing is ever run."""

import pathlib
import tomllib
from typing import Any

import pytest

from redshank_node.tools.builtin import bash
from redshank_node.tools.support.danger.judging import objection
from redshank_node.tools.tool import BadArguments, Workspace

CASES = pathlib.Path(__file__).parent / "cases"


def lines(name: str) -> list[Any]:
    found = tomllib.loads((CASES / name).read_text(encoding="utf-8"))["line"]
    return [pytest.param(line, id=line["id"]) for line in found]


ALL = [*lines("shell_danger.toml"), *lines("shell_danger_more.toml")]


KINDS = tomllib.loads((CASES / "shell_danger_kinds.toml").read_text(encoding="utf-8"))


def test_there_are_as_many_lines_of_our_own_as_were_given() -> None:
    given, more = (len(lines(f"shell_danger{end}.toml")) for end in ("", "_more"))
    assert more >= given


@pytest.mark.req("T-20")
@pytest.mark.fault("F34")
@pytest.mark.parametrize("line", ALL)
def test_the_line_is_judged_as_its_case_says(line: dict[str, str]) -> None:
    found = objection(line["command"])
    if line["expect"] == "either":
        return
    assert (found is not None) == (line["expect"] == "refuse"), f"{line['why']}: {found}"


@pytest.mark.req("T-20")
@pytest.mark.fault("F35")
@pytest.mark.parametrize("line", ALL)
def test_a_line_that_passes_is_handed_on_byte_for_byte(
    line: dict[str, str], tmp_path: pathlib.Path
) -> None:
    given = {"command": line["command"]}
    if objection(line["command"]) is None:
        assert bash.prepare(given, Workspace(tmp_path)).arguments["command"] == line["command"]
        return
    with pytest.raises(BadArguments, match="command is refused: "):
        bash.prepare(given, Workspace(tmp_path))


@pytest.mark.req("T-20")
@pytest.mark.fault("F34")
@pytest.mark.parametrize("kind", KINDS["refuse"])
def test_every_line_of_a_kind_that_destroys_a_machine_is_refused(kind: str) -> None:
    assert [line for line in KINDS["refuse"][kind] if objection(line) is None] == []


@pytest.mark.req("T-20")
@pytest.mark.fault("F34")
@pytest.mark.parametrize("kind", KINDS["pass"])
def test_no_line_of_a_kind_that_only_looks_like_it_is_refused(kind: str) -> None:
    assert [line for line in KINDS["pass"][kind] if objection(line) is not None] == []


@pytest.mark.fault("F34")
@pytest.mark.parametrize("piece", ["-exec ", "-exec echo a ", "-exec rm {} "])
def test_a_line_that_hands_on_again_and_again_is_refused_before_it_is_followed(piece: str) -> None:
    assert "too many commands to be judged" in (objection("find . " + piece * 5_000) or "")
