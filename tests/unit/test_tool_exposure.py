"""A profile shows a tool under names of its own; what runs is the same tool."""

import dataclasses
import pathlib
from typing import Any

import pytest

from redshank_node.tools.builtin import bash, grep_search
from redshank_node.tools.support import schema
from redshank_node.tools.support.exposure import Scene, exposed, of_kind, shown_in, with_notes
from redshank_node.tools.support.shown_names import in_shown_names
from redshank_node.tools.tool import (
    BadArguments,
    CallContext,
    KindVariant,
    Prepared,
    Result,
    Tool,
    Workspace,
)
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.events import Preview
from redshank_shared.profiles.profile import Exposure

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Which file."},
        "depth": {"type": "integer", "minimum": 1, "description": "How deep."},
        "edits": {
            "type": "array",
            "description": "What to change.",
            "items": {
                "type": "object",
                "properties": {
                    "old": {"type": "string", "description": "Before."},
                    "new": {"type": "string", "description": "After."},
                },
                "required": ["old"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}


@dataclasses.dataclass
class Noted:
    """What reached the tool itself."""

    arguments: dict[str, Any] | None = None
    options: Any = None


def noting(**more: Any) -> tuple[Tool, Noted]:
    noted = Noted()

    def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
        noted.arguments = schema.validated(arguments, PARAMETERS)
        noted.options = dict(workspace.options)
        if noted.arguments["path"] == "/etc":
            raise BadArguments("path: '/etc' leads out of the workspace")
        return Prepared(noted.arguments, Preview("noted"))

    async def run(_: Prepared, context: CallContext) -> Result:
        return Result(str(dict(context.workspace.options)))

    return Tool("note_it", "Notes it.", PARAMETERS, "read", prepare, run, "path", **more), noted


HERE = Workspace(pathlib.Path("/"))


def test_an_argument_is_shown_and_taken_under_its_other_name() -> None:
    tool, noted = noting()

    shown = exposed(tool, "note", Exposure(rename={"path": "file"}))

    assert list(shown.parameters["properties"]) == ["file", "depth", "edits"]
    assert shown.parameters["required"] == ["file"]
    assert (shown.name, shown.primary_key) == ("note_it", "file")
    shown.prepare({"file": "a.txt", "depth": 2}, HERE)
    assert noted.arguments == {"path": "a.txt", "depth": 2}


def test_an_argument_inside_a_list_is_renamed_by_its_dotted_name() -> None:
    tool, noted = noting()
    rename = {"edits.old": "oldText", "edits.new": "newText"}

    shown = exposed(tool, "note", Exposure(rename=rename))
    shown.prepare({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}, HERE)

    assert noted.arguments == {"path": "a", "edits": [{"old": "x", "new": "y"}]}
    with pytest.raises(BadArguments, match="edits\\[0\\].oldText is required"):
        shown.prepare({"path": "a", "edits": [{"newText": "y"}]}, HERE)


def test_refusals_name_the_argument_as_it_is_shown() -> None:
    tool, _ = noting()
    shown = exposed(tool, "note", Exposure(rename={"path": "file"}))

    with pytest.raises(BadArguments, match="^file is required"):
        shown.prepare({}, HERE)
    with pytest.raises(BadArguments, match="path is not an argument of this tool"):
        shown.prepare({"path": "a.txt"}, HERE)
    with pytest.raises(BadArguments, match="^file: '/etc' leads out"):
        shown.prepare({"file": "/etc"}, HERE)


def test_a_preset_argument_is_given_and_can_neither_be_seen_nor_set() -> None:
    tool, noted = noting()

    shown = exposed(tool, "note", Exposure(preset={"depth": 3}))

    assert "depth" not in shown.parameters["properties"]
    shown.prepare({"path": "a"}, HERE)
    assert noted.arguments == {"path": "a", "depth": 3}
    with pytest.raises(BadArguments, match="depth is not an argument"):
        shown.prepare({"path": "a", "depth": 1}, HERE)


async def test_a_preset_option_reaches_prepare_and_run_beside_the_arguments() -> None:
    tool, noted = noting(options={"guard": {"type": "boolean"}})

    shown = exposed(tool, "note", Exposure(preset={"guard": True}))
    prepared = shown.prepare({"path": "a"}, HERE)
    result = await shown.run(prepared, CallContext("call_1", HERE, lambda _: None))

    assert noted.arguments == {"path": "a"}
    assert noted.options == {"guard": True}
    assert result.output == "{'guard': True}"


def test_an_argument_that_is_left_out_is_not_taken() -> None:
    shown = exposed(grep_search.TOOL, "search", Exposure(without=("glob",)))

    with pytest.raises(BadArguments, match="glob is not an argument"):
        shown.prepare({"pattern": "x", "glob": "*.py"}, HERE)


def test_an_argument_may_be_needed_in_one_profile_only() -> None:
    shown = exposed(noting()[0], "note", Exposure(require=("depth",), rename={"depth": "levels"}))

    assert shown.parameters["required"] == ["path", "levels"]
    with pytest.raises(BadArguments, match="^levels is required"):
        shown.prepare({"path": "a"}, HERE)


@pytest.mark.req("T-24")
def test_values_are_shown_and_taken_as_other_words() -> None:
    tool, noted = noting()
    words = {"depth": {"flat": 1, "deep": 9}}

    shown = exposed(tool, "note", Exposure(values=words, describe={"depth": "flat or deep."}))

    assert shown.parameters["properties"]["depth"] == {
        "type": "string",
        "enum": ["flat", "deep"],
        "description": "flat or deep.",
    }
    shown.prepare({"path": "a", "depth": "deep"}, HERE)
    assert noted.arguments == {"path": "a", "depth": 9}
    with pytest.raises(BadArguments, match="depth must be one of flat, deep"):
        shown.prepare({"path": "a", "depth": "nine"}, HERE)


def test_words_of_the_tool_name_arguments_as_they_are_shown() -> None:
    exposure = Exposure(rename={"edits.old_string": "oldText", "path": "file"})

    said = {
        words: in_shown_names(words, exposure)
        for words in (
            "edits[3].old_string is empty",
            "old_string must be there once, on the path",
            "path: no such file\npath: stays",
        )
    }

    assert list(said.values()) == [
        "edits[3].oldText is empty",
        "oldText must be there once, on the path",
        "file: no such file\npath: stays",
    ]


def test_without_a_change_the_tool_is_the_same_one() -> None:
    assert exposed(bash.TOOL, "bash", Exposure(), parallel=False) is bash.TOOL
    assert exposed(bash.TOOL, "bash", Exposure(), parallel=True).parallel


@pytest.mark.parametrize(
    ("exposure", "field"),
    [
        (Exposure(rename={"pth": "file"}), "tools.note.rename.pth"),
        (Exposure(rename={"edits.odl": "oldText"}), "tools.note.rename.edits.odl"),
        (Exposure(rename={"path": "depth"}), "tools.note.rename.path"),
        (Exposure(rename={"edits.old": "new"}), "tools.note.rename.edits.old"),
        (Exposure(preset={"guard": True}), "tools.note.preset.guard"),
        (Exposure(preset={"depth": "three"}), "tools.note.preset.depth"),
        (Exposure(preset={"depth": 0}), "tools.note.preset.depth"),
        (Exposure(without=("deep",)), "tools.note.without.deep"),
        (Exposure(without=("path",)), "tools.note.without"),
        (Exposure(require=("deep",)), "tools.note.require.deep"),
        (Exposure(values={"deep": {}}), "tools.note.values.deep"),
        (Exposure(describe={"deep": ""}), "tools.note.describe.deep"),
        (Exposure(form="other"), "tools.note.form"),
    ],
)
def test_a_change_that_does_not_fit_the_tool_is_refused_by_its_key(
    exposure: Exposure, field: str
) -> None:
    with pytest.raises(Misconfigured) as refused:
        exposed(noting()[0], "note", exposure)

    assert refused.value.field == field


@pytest.mark.req("T-02")
def test_each_kind_of_session_has_the_tools_that_are_for_it() -> None:
    plain = noting()[0]
    steering = noting(coordinator=True)[0]
    both = noting(coordinator=True, interactive=True)[0]
    top = noting(task_agent=False)[0]
    tools = (plain, steering, both, top)

    assert of_kind(tools, "interactive") == (plain, both, top)
    assert of_kind(tools, "coordinator") == (steering, both)
    assert of_kind(tools, "task_agent") == (plain, steering, both)


@pytest.mark.req("T-03")
def test_a_kind_sees_its_own_description_and_schema() -> None:
    narrow = {"type": "object", "properties": {}, "additionalProperties": False}
    variants = {"coordinator": KindVariant("Notes it for all.", narrow)}
    tool = noting(kind_variants=variants)[0]

    assert shown_in(tool, Scene("interactive")) is tool
    shown = shown_in(tool, Scene("coordinator"))
    assert (shown.description, shown.parameters) == ("Notes it for all.", narrow)


@pytest.mark.req("T-04")
def test_notes_about_folders_stand_behind_the_description() -> None:
    tool = noting(cwd_note="It runs in {working_dir}.", workspace_note="Keep to {workspace_dir}.")[
        0
    ]

    both = with_notes(tool, Scene(working_dir="/srv/a", workspace_dir="/srv"))
    assert both.description == "Notes it. It runs in /srv/a. Keep to /srv."
    bare = with_notes(tool, Scene(working_dir="/srv/a"))
    assert bare.description == "Notes it. It runs in /srv/a."
