"""What a server's question is answered with where `questions = "defaults"`."""

from typing import Any

import mcp_types
import pytest

from redshank_node.mcp_client.connection_questions import answer_with_defaults
from redshank_node.mcp_client.server_questions import defaults_of
from redshank_shared.settings.mcp_server import McpServer


def form(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def test_questions_are_refused_unless_the_operator_says_otherwise() -> None:
    assert McpServer(name="git", command="git-server").questions == "refuse"


def test_each_default_is_given_and_nothing_else() -> None:
    schema = form(
        ("name",),
        name={"type": "string", "default": "Ana"},
        age={"type": "integer", "default": 30},
        birds={"type": "array", "default": ["redshank"]},
        note={"type": "string"},
    )
    assert defaults_of(schema) == {"name": "Ana", "age": 30, "birds": ["redshank"]}


@pytest.mark.parametrize(
    "schema",
    [
        form(("password",), password={"type": "string"}),
        form(("gone",)),
        form(**{f"p{number}": {"default": ""} for number in range(101)}),
        form(("x",), x={"default": {"a": 1}}),
        form(("x",), x={"default": [1]}),
        {"properties": []},
        {"properties": {}, "required": "name"},
        "no schema",
        None,
    ],
)
def test_what_its_defaults_do_not_fill_in_is_declined(schema: Any) -> None:
    assert defaults_of(schema) is None


async def test_an_address_to_open_is_declined() -> None:
    asked = mcp_types.ElicitRequestURLParams(
        mode="url", message="sign in", url="https://evil.example", elicitation_id="1"
    )
    assert (await answer_with_defaults(None, asked)).action == "decline"
