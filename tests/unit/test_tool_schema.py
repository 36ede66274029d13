"""Arguments of calls: what a schema lets through, what a model's text is read as."""

from typing import Any

import pytest

from redshank_node.tools.builtin import bash
from redshank_node.tools.support.arguments import parsed
from redshank_node.tools.support.schema import validated
from redshank_node.tools.tool import BadArguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 600},
        "all": {"type": "boolean"},
        "mode": {"type": "string", "enum": ["fast", "slow"]},
        "edits": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {"old": {"type": "string"}, "line": {"type": "integer"}},
                "required": ["old"],
            },
        },
    },
    "required": ["path"],
}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "path is required"),
        ({"path": None}, "path is required"),
        ({"path": 3}, "path must be a string, not the number 3"),
        ({"path": ""}, "path must not be empty"),
        ({"path": "a", "limit": "5"}, "limit must be a whole number, not a string"),
        ({"path": "a", "limit": True}, "limit must be a whole number, not a boolean"),
        ({"path": "a", "limit": 2.5}, "limit must be a whole number, not the number 2.5"),
        ({"path": "a", "limit": 0}, "limit must be between 1 and 600, not 0"),
        ({"path": "a", "all": "yes"}, "all must be true or false, not a string"),
        ({"path": "a", "mode": "odd"}, "mode must be one of fast, slow, not odd"),
        ({"path": "a", "edits": {}}, "edits must be a list, not an object"),
        ({"path": "a", "edits": []}, "edits must have at least 1 item(s)"),
        ({"path": "a", "edits": [{"old": "x"}, {}]}, "edits[1].old is required"),
        ({"path": "a", "edits": ["x"]}, "edits[0] must be an object, not a string"),
        (
            {"file_path": "a"},
            "file_path is not an argument of this tool; did you mean path? "
            "It takes: path, limit, all, mode, edits",
        ),
        (
            {"path": "a", "zzz": 1},
            "zzz is not an argument of this tool. It takes: path, limit, all, mode, edits",
        ),
        (
            {"path": "a", "edits": [{"old": "x", "lines": 1}]},
            "edits[0].lines is not an argument of this tool; did you mean edits[0].line? "
            "It takes: old, line",
        ),
    ],
)
def test_a_wrong_argument_is_named_with_its_mend(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(BadArguments) as refused:
        validated(arguments, SCHEMA)
    assert str(refused.value) == message


def test_right_arguments_pass_unchanged_and_null_counts_as_left_out() -> None:
    given = {"path": "a", "limit": 2.0, "all": None, "edits": [{"old": "x"}]}
    assert validated(given, SCHEMA) == {"path": "a", "limit": 2, "edits": [{"old": "x"}]}


@pytest.mark.req("T-10")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("  \n", {}),
        ('{"command": "ls"}', {"command": "ls"}),
        ('"{\\"command\\": \\"ls\\"}"', {"command": "ls"}),
    ],
)
def test_arguments_are_read_tolerantly(text: str, expected: dict[str, Any]) -> None:
    assert parsed(text, bash.TOOL, rescue=False) == expected


@pytest.mark.req("T-11")
@pytest.mark.parametrize("text", ["ls -la", '"ls -la"'])
def test_a_bare_string_stands_for_the_primary_key_where_rescue_is_on(text: str) -> None:
    assert parsed(text, bash.TOOL, rescue=True) == {"command": "ls -la"}
    with pytest.raises(BadArguments, match='"command"'):
        parsed(text, bash.TOOL, rescue=False)


@pytest.mark.req("T-10")
@pytest.mark.parametrize(
    "text",
    [
        '{"command": "ls\npwd"}',
        '```json\n{"command": "ls\\npwd"}\n```',
        "{'command': 'ls\\npwd',}",
        '\ufeff{"command": "ls\\npwd",}',
    ],
)
def test_an_object_that_is_nearly_json_is_read_whole_where_rescue_is_on(text: str) -> None:
    assert parsed(text, bash.TOOL, rescue=True) == {"command": "ls\npwd"}
    with pytest.raises(BadArguments, match="are not JSON"):
        parsed(text, bash.TOOL, rescue=False)


@pytest.mark.parametrize(
    "text",
    [
        '{"command": "rm -rf bui',
        '["ls"]',
        "[ls",
        "12",
        "{'command': 'rm -rf bui",
        "{'command': {1, 2}}",
        "{'command': b'ls'}",
        '{"command": "ls"} {"command": "pwd"}',
        '{"command": NaN}',
        '{"command": "\\ud800"}',
        "{'command':" * 3000 + "1" + "}" * 3000,
    ],
)
def test_json_that_is_cut_off_or_no_object_is_never_rescued_into_a_command(text: str) -> None:
    if text == "12":
        assert parsed("echo 12", bash.TOOL, rescue=True) == {"command": "echo 12"}
    with pytest.raises(BadArguments):
        parsed(text, bash.TOOL, rescue=True)


@pytest.mark.parametrize("text", ['{"command":' * 20_000 + "1" + "}" * 20_000, "[" * 60_000])
def test_arguments_nested_too_deep_to_be_read_are_told_so(text: str) -> None:
    with pytest.raises(BadArguments, match="nested too deep"):
        parsed(text, bash.TOOL, rescue=True)
