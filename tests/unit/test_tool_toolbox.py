"""The toolbox: any name leads to its tool, no name to two."""

import msgspec
import pytest

from redshank_node.tools.builtin import bash, grep_search
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.toolbox import Toolbox
from redshank_shared.domain.errors import Misconfigured

# T-11 by canonical names.
PRIMARY_KEYS = {
    "bash": "command",
    "read_file": "path",
    "write_file": "content",
    "edit_file": "old_string",
    "grep_search": "pattern",
    "web_fetch": "url",
    "web_search": "query",
    "open_preview": "target",
    "spawn_agent": "prompt",
    "memory": "name",
    "recall": "query",
    "notify": "message",
    "read_mcp_resource": "uri",
    "use_prompt": "name",
    "watch": "command",
    "use_skill": "name",
    "tool_search": "query",
}


def test_exposed_canonical_and_alias_names_lead_to_the_same_tool() -> None:
    toolbox = Toolbox(BUILTIN, {"grep": "grep_search"})
    tools = [toolbox.resolve(name) for name in ("grep", "grep_search", "search")]
    assert tools == [grep_search.TOOL] * 3
    assert toolbox.resolve("nothing") is None


def test_two_tools_with_one_name_are_refused_at_construction() -> None:
    other = msgspec.structs.replace(bash.TOOL, name="shell", aliases=("search",))
    with pytest.raises(Misconfigured, match="grep_search and shell share the name search"):
        Toolbox((grep_search.TOOL, other))
    with pytest.raises(Misconfigured, match="share the name bash"):
        Toolbox((bash.TOOL, msgspec.structs.replace(bash.TOOL, aliases=("sh",))))
    with pytest.raises(Misconfigured, match="share the name bash"):
        Toolbox(BUILTIN, {"bash": "read_file"})


def test_an_exposed_name_without_a_tool_is_refused() -> None:
    with pytest.raises(Misconfigured, match="stands for frob, which is no tool"):
        Toolbox(BUILTIN, {"run": "frob"})


def test_the_digest_changes_with_what_a_model_sees_and_with_nothing_else() -> None:
    toolbox = Toolbox(BUILTIN)
    shown = [tool.name for tool in toolbox.surface()]
    assert shown == [tool.name for tool in BUILTIN]
    assert Toolbox(BUILTIN).digest == toolbox.digest
    assert Toolbox(BUILTIN, {"grep": "grep_search"}).digest != toolbox.digest
    assert Toolbox(BUILTIN[1:]).digest != toolbox.digest


def test_an_unlisted_tool_is_found_and_not_shown() -> None:
    toolbox = Toolbox((bash.TOOL, grep_search.TOOL), unlisted=frozenset({"bash"}))

    assert [shown.name for shown in toolbox.surface()] == ["grep_search"]
    assert [tool.name for tool, _ in toolbox.described()] == ["grep_search"]
    assert toolbox.resolve("bash") is bash.TOOL


@pytest.mark.req("T-11")
def test_the_built_in_tools_have_the_primary_keys_of_the_requirement() -> None:
    declared = {tool.name: tool.primary_key for tool in BUILTIN}

    assert {name: declared.get(name, key) for name, key in PRIMARY_KEYS.items()} == PRIMARY_KEYS
