"""The toolbox: any name leads to its tool, no name to two."""

import msgspec
import pytest

from redshank_node.tools.builtin import bash, grep_search
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.toolbox import Toolbox
from redshank_shared.domain.errors import Misconfigured

PRIMARY_KEYS = {
    "bash": "command",
    "read_file": "path",
    "write_file": "content",
    "edit_file": "old_string",
    "grep_search": "pattern",
    "list_files": "path",
    "wake_after": "delay",
    "wake_at": "at",
    "schedule_create": "message",
    "schedule_list": "state",
    "schedule_get": "id",
    "schedule_pause": "id",
    "schedule_resume": "id",
    "schedule_cancel": "id",
    "schedule_trigger_now": "id",
    "watch": "command",
    "notify": "message",
    "ask_user_question": "questions",
    "ask_operator": "questions",
    "enter_plan_mode": "reason",
    "exit_plan_mode": "plan",
}
EFFECTS = {
    "read_file": "read",
    "list_files": "read",
    "grep_search": "read",
    "write_file": "write",
    "edit_file": "write",
    "bash": "process",
    "wake_after": "state",
    "wake_at": "state",
    "schedule_create": "state",
    "schedule_list": "read",
    "schedule_get": "read",
    "schedule_pause": "state",
    "schedule_resume": "state",
    "schedule_cancel": "state",
    "schedule_trigger_now": "state",
    "watch": "process",
    "notify": "deliver",
    "ask_user_question": "human",
    "ask_operator": "human",
    "enter_plan_mode": "state",
    "exit_plan_mode": "state",
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
    with pytest.raises(Misconfigured, match="stands for exec, which is no tool"):
        Toolbox(BUILTIN, {"run": "exec"})


def test_the_digest_changes_with_what_a_model_sees_and_with_nothing_else() -> None:
    toolbox = Toolbox(BUILTIN)
    shown = [tool.name for tool in toolbox.surface()]
    assert shown == [tool.name for tool in BUILTIN]
    assert Toolbox(BUILTIN).digest == toolbox.digest
    assert Toolbox(BUILTIN, {"grep": "grep_search"}).digest != toolbox.digest
    assert Toolbox(BUILTIN[1:]).digest != toolbox.digest


@pytest.mark.req("T-11")
@pytest.mark.req("K-11")
def test_the_built_in_tools_declare_their_effects_and_primary_keys() -> None:
    assert {tool.name: tool.primary_key for tool in BUILTIN} == PRIMARY_KEYS
    assert {tool.name: tool.effect for tool in BUILTIN} == EFFECTS
    assert {tool.name for tool in BUILTIN if tool.plan} == {
        "read_file",
        "list_files",
        "grep_search",
        "schedule_list",
        "schedule_get",
        "ask_user_question",
        "ask_operator",
        "enter_plan_mode",
        "exit_plan_mode",
    }
