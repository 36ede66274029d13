"""Files and functions stay small; the ledger of exceptions only shrinks."""

import ast
import tomllib

from tests.architecture.sources import ROOT, page_files, python_files, shown

LARGEST_FILE = 400
LARGEST_FUNCTION = 60
LEDGER = tomllib.loads((ROOT / "tests" / "architecture" / "ledger.toml").read_text())


def file_sizes() -> dict[str, int]:
    files = [*python_files(), *page_files()]
    return {shown(path): len(path.read_text().splitlines()) for path in files}


def function_sizes() -> dict[str, int]:
    sizes = {}
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno:
                sizes[f"{shown(path)}::{node.name}"] = node.end_lineno - node.lineno + 1
    return sizes


def test_no_file_is_larger_than_the_house_allows() -> None:
    allowed = LEDGER["files"]
    sizes = file_sizes()
    assert {
        name: size for name, size in sizes.items() if size > allowed.get(name, LARGEST_FILE)
    } == {}


def test_no_function_is_larger_than_the_house_allows() -> None:
    allowed = LEDGER["functions"]
    sizes = function_sizes()
    assert {
        name: size for name, size in sizes.items() if size > allowed.get(name, LARGEST_FUNCTION)
    } == {}


def test_the_ledger_holds_only_what_is_still_too_large_at_its_present_size() -> None:
    sizes = file_sizes() | function_sizes()
    bounds = [("files", LARGEST_FILE), ("functions", LARGEST_FUNCTION)]
    for table, bound in bounds:
        for name, size in LEDGER[table].items():
            assert size > bound, f"{name} fits: take it out of the ledger"
            assert sizes.get(name) == size, f"{name} has {sizes.get(name)} lines: write that"
