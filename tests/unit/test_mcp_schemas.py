"""Schemas of remote tools: every provider takes what is shown, arguments are checked by it."""

import contextlib
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redshank_node.mcp_client.remote_arguments import checked
from redshank_node.mcp_client.remote_schema import Unusable, usable
from redshank_node.tools.tool import BadArguments


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.req("K-70")
def test_a_schema_is_shown_as_an_object_with_bounded_descriptions() -> None:
    said = usable(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "anyOf": [{"required": ["a"]}],
            "properties": {
                "a": {"type": "string", "description": "d" * 5000},
                "a b": {"type": "string"},
            },
            "required": ["a", 3],
        }
    )
    assert set(said) == {"type", "properties", "required"}
    assert said["type"] == "object"
    assert set(said["properties"]) == {"a"}
    assert said["required"] == ["a"]
    assert len(said["properties"]["a"]["description"]) == 1024


def test_an_empty_schema_is_an_object_without_properties() -> None:
    assert usable({}) == {"type": "object", "properties": {}}


@pytest.mark.fault("F67")
def test_a_reference_that_leads_elsewhere_is_taken_out() -> None:
    said = usable({"properties": {"a": {"$ref": "http://169.254.169.254/x.json"}}})
    assert said["properties"] == {"a": {}}


@pytest.mark.fault("F67")
@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (nested(10_000), "deeper than"),
        (
            {"properties": {f"p{n}": {"description": "x" * 900} for n in range(500)}},
            "at most 65536",
        ),
        ({"type": "string"}, "must be an object"),
        ({"properties": [1]}, "no table"),
        ({"properties": {"a b": {}}, "required": ["a b"]}, "providers refuse"),
        (
            {
                "$defs": {
                    f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 10} for n in range(30)
                },
                "properties": {"a": {"$ref": "#/$defs/d0"}},
            },
            "once references are written out",
        ),
    ],
    ids=["deep", "large", "text", "properties", "name", "bomb"],
)
def test_a_schema_that_cannot_be_handed_on_says_why(schema: dict[str, Any], why: str) -> None:
    with pytest.raises(Unusable, match=why):
        usable(schema)


@pytest.mark.fault("F67")
def test_a_schema_that_refers_to_itself_is_a_tree_and_no_bomb() -> None:
    node = {"type": "object", "properties": {"children": {"items": {"$ref": "#/$defs/node"}}}}
    schema = {"$defs": {"node": node}, "properties": {"root": {"$ref": "#/$defs/node"}}}
    assert usable(schema)["$defs"]["node"] == node


SCHEMA = usable(
    {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "many": {"type": ["integer", "null"]},
            "kind": {"enum": ["a", "b"]},
            "items": {"type": "array", "items": {"type": "number"}},
            "odd": {"type": "nonsense", "pattern": "(a+)+$"},
        },
        "required": ["text"],
    }
)


@pytest.mark.req("T-71")
def test_arguments_that_fit_go_through_and_optional_nulls_are_left_out() -> None:
    given = {"text": "x", "many": None, "kind": "a", "items": [1, 2.5], "odd": 3, "more": {"a": 1}}
    assert checked(given, SCHEMA) == given
    assert checked({"text": "x", "items": None}, SCHEMA) == {"text": "x"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "text is required"),
        ({"text": 3}, "text must be string, not integer"),
        ({"text": "x", "many": True}, "many must be integer or null, not boolean"),
        ({"text": "x", "kind": "c"}, "kind must be one of a, b, not c"),
        ({"text": "x", "items": [1, "2"]}, r"items\[1\] must be number, not string"),
    ],
)
def test_arguments_that_cannot_fit_are_refused_with_the_mend(
    arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadArguments, match=said):
        checked(arguments, SCHEMA)


def test_other_arguments_are_refused_only_where_the_server_says_so() -> None:
    closed = {"properties": {"a": {}}, "additionalProperties": False}
    with pytest.raises(BadArguments, match="b is not an argument of this tool. It takes: a"):
        checked({"b": 1}, closed)


@pytest.mark.fault("F67")
def test_a_strangers_pattern_is_never_run() -> None:
    bomb = {"properties": {"a": {"type": "string", "pattern": "^(([a-z])+.)+[A-Z]([a-z])+$"}}}
    assert checked({"a": "a" * 100_000}, bomb) == {"a": "a" * 100_000}


@pytest.mark.fault("F67")
@pytest.mark.parametrize(
    "schema", [{"properties": 3}, {"required": "text"}, {"enum": 3}, {"type": {}}]
)
def test_a_broken_schema_refuses_nothing(schema: dict[str, Any]) -> None:
    assert checked({"a": 1}, schema) == {"a": 1}


_WORDS = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "enum",
        "items",
        "$ref",
        "$defs",
        "anyOf",
        "description",
        "a",
    ]
) | st.text(st.characters(), max_size=5)
_ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(["object", "string", "#/$defs/a", "#", "#/properties/a", "http://x/y"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_WORDS, inner, max_size=4),
    max_leaves=30,
)
_TABLES = st.dictionaries(_WORDS, _ANY, max_size=5)


@pytest.mark.req("K-70")
@pytest.mark.fault("F67")
@settings(max_examples=250, deadline=None)
@given(_TABLES, st.dictionaries(st.sampled_from(["a", "b"]), _ANY, max_size=2))
def test_any_schema_is_shown_whole_or_refused_with_words(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    try:
        said = usable(schema)
    except Unusable:
        said = schema
    else:
        shown = msgspec.json.decode(msgspec.json.encode(said))
        assert shown["type"] == "object"
        assert isinstance(shown["properties"], dict)
        assert "http://x/y" not in [shown.get("$ref")]
    with contextlib.suppress(BadArguments):
        checked(arguments, said)
