"""Names and docstrings say one job each."""

import ast
import re

import pytest

from tests.architecture.sources import PACKAGES, page_files, python_files, shown

NAMES_THAT_ABSORB_ANYTHING = {
    "utils",
    "util",
    "helpers",
    "common",
    "manager",
    "base",
    "core",
    "misc",
}


def test_no_file_or_folder_has_a_name_that_absorbs_anything() -> None:
    parts = {part for path in [*python_files(), *page_files()] for part in shown(path).split("/")}
    words = {word for part in parts for word in re.split(r"[_.\-]", part)}
    assert words & NAMES_THAT_ABSORB_ANYTHING == set()


def test_no_class_is_named_after_a_pattern() -> None:
    found = [
        f"{shown(path)}::{node.name}"
        for path in python_files()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef) and re.search(r"(Manager|Helper|Utils?)$", node.name)
    ]
    assert found == []


def test_every_package_file_is_empty() -> None:
    assert [shown(p) for p in python_files() if p.name == "__init__.py" and p.read_text()] == []


def test_every_file_says_its_one_job_in_one_line() -> None:
    wrong = {}
    for path in python_files():
        if path.name == "__init__.py":
            continue
        line = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]
        if not line or not line.endswith((".", "?")):
            wrong[shown(path)] = line or "no docstring"
        elif re.search(r"\band\b", line):
            wrong[shown(path)] = f"two jobs: {line}"
    assert wrong == {}


def test_every_public_function_and_class_of_a_module_says_its_promise() -> None:
    """A struct of facts whose fields speak for themselves needs none."""
    silent = [
        f"{shown(path)}::{node.name}"
        for path in python_files()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert silent == []


@pytest.mark.parametrize("banned", ["TODO", "FIXME", "XXX", "HACK"])
def test_no_comment_postpones_work(banned: str) -> None:
    files = [*python_files(), *page_files()]
    comment = re.compile(rf"(#|//|/\*).*\b{banned}\b(?![\"'`])")
    assert [shown(path) for path in files if comment.search(path.read_text())] == []


def test_every_ignore_gives_its_reason_on_the_line() -> None:
    """As in `# noqa: CODE - why so` or `# type: ignore[code]  # why so`."""
    ignore = re.compile(r"#\s*(?:noqa|type: ignore)(?:: ?[A-Z0-9, ]+|\[[a-z, -]+\])?(.*)")
    wrong = []
    for path in python_files():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = ignore.search(line)
            if found and len(re.findall(r"\w+", found[1])) < 2:
                wrong.append(f"{shown(path)}:{number}")
    assert wrong == []


def test_the_packages_are_the_four_of_the_house() -> None:
    assert [package.name for package in PACKAGES if package.is_dir()] == [
        "redshank_shared",
        "redshank_node",
        "redshank_console",
        "redshank_gateway",
    ]
