"""The built-in tools, each as a call runs it: prepared, previewed, run in a real workspace."""

import os
import pathlib
from typing import Any

import pytest

from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import (
    BadArguments,
    CallContext,
    Prepared,
    Result,
    WebAccess,
    Workspace,
)
from redshank_node.tools.toolbox import Toolbox
from tests.contract.media_asking import route

TOOLBOX = Toolbox(BUILTIN)
QUESTIONS = {"questions": [{"question": "a or b?", "options": [{"label": "a"}, {"label": "b"}]}]}
LIMIT = 262144


def prepared(root: pathlib.Path, name: str, **arguments: Any) -> Prepared:
    tool = TOOLBOX.resolve(name)
    assert tool is not None
    return tool.prepare(arguments, Workspace(root))


async def ran(root: pathlib.Path, name: str, call: Prepared, max_bytes: int = LIMIT) -> Result:
    tool = TOOLBOX.resolve(name)
    assert tool is not None
    return await tool.run(call, CallContext("call", Workspace(root), lambda _: None, max_bytes))


async def call(root: pathlib.Path, name: str, **arguments: Any) -> Result:
    return await ran(root, name, prepared(root, name, **arguments))


@pytest.mark.req("K-10")
@pytest.mark.fault("F17")
@pytest.mark.parametrize(
    "tool", [tool for tool in BUILTIN if "path" in tool.parameters["properties"]]
)
@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "link/passwd"])
def test_every_tool_refuses_an_escaping_path_before_it_is_shown_to_anyone(
    tool: Any, path: str, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "link").symlink_to("/etc")
    values = {"path": path, "pattern": "x", "content": "x", "old_string": "x", "new_string": "y"}
    wanted = set(tool.parameters["required"]) | {"path"}
    if tool.name == "edit_file":
        wanted |= {"old_string", "new_string"}
    if tool.name == "diff_file":
        wanted |= {"content"}
    with pytest.raises(BadArguments, match="path: .* leads out of the workspace"):
        tool.prepare({key: values[key] for key in wanted}, Workspace(tmp_path))


@pytest.mark.req("K-10")
@pytest.mark.parametrize("tool", BUILTIN, ids=lambda tool: tool.name)
def test_preparing_changes_nothing(tool: Any, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.txt").write_text("old\n")
    examples: dict[str, dict[str, Any]] = {
        "read_file": {"path": "a.txt"},
        "read_sections": {"path": "a.txt", "all": True},
        "open_file": {"path": "a.txt"},
        "close_file": {"path": "a.txt"},
        "list_files": {},
        "glob_search": {"pattern": "*.txt"},
        "grep_search": {"pattern": "old"},
        "tool_search": {"query": "old"},
        "write_file": {"path": "new/a.txt", "content": "x"},
        "edit_file": {"path": "a.txt", "old_string": "old", "new_string": "new"},
        "diff_file": {"path": "a.txt", "content": "new\n"},
        "apply_patch": {"patch": "*** Begin Patch\n*** Add File: b.txt\n+x\n*** End Patch\n"},
        "bash": {"command": "touch b.txt"},
        "exec": {"command": "cat", "args": ["a.txt"]},
        "task_create": {"subject": "x"},
        "task_get": {"task_id": "x"},
        "task_list": {},
        "task_output": {"task_id": "x"},
        "task_update": {"task_id": "x", "state": "completed"},
        "task_stop": {"task_id": "x"},
        "task_delete": {"task_id": "x"},
        "wake_after": {"delay": "10m", "message": "x"},
        "wake_at": {"at": "2099-01-01T00:00:00Z", "message": "x"},
        "schedule_create": {"name": "x", "message": "x", "interval": {"every_seconds": 5}},
        "schedule_list": {},
        "schedule_get": {"id": "x"},
        "schedule_pause": {"id": "x"},
        "schedule_resume": {"id": "x"},
        "schedule_cancel": {"id": "x"},
        "schedule_trigger_now": {"id": "x"},
        "watch": {"action": "create", "name": "x", "command": "touch b.txt"},
        "notify": {"message": "x", "username": "ines"},
        "ask_user_question": QUESTIONS,
        "ask_operator": QUESTIONS,
        "enter_plan_mode": {},
        "exit_plan_mode": {"plan": "1. look"},
        "web_fetch": {"url": "https://www.example.com/"},
        "web_search": {"query": "waders"},
        "open_preview": {"target": "a.txt"},
        "store_asset": {"path": "a.txt"},
        "emit_output": {"content": "x"},
        "respond": {"content": "x"},
        "no_response": {},
        "generate_image": {"prompt": "a wader"},
        "edit_image": {"prompt": "a wader", "asset_ids": [f"sha256:{'0' * 64}"]},
        "generate_audio": {"text": "kleep"},
    }
    arguments = examples[tool.name]
    given = dict(arguments)
    able = route(
        "http://127.0.0.1:9", "painter", "image_generation", "image_edit", "audio_generation"
    )
    tool.prepare(arguments, Workspace(tmp_path, WebAccess(media=(able,))))
    assert arguments == given
    assert os.listdir(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old\n"


class TestBash:
    @pytest.mark.req("T-18")
    @pytest.mark.req("T-21")
    @pytest.mark.parametrize(
        ("command", "output", "outcome"),
        [
            ("echo hi", "hi\n", "ok"),
            ("true", "[no output]", "ok"),
            ("printf x", "x", "ok"),
            ("grep -q x /dev/null", "[exit code 1]", "ok"),
            ("echo a; exit 1", "a\n[exit code 1]", "ok"),
            ("printf a; exit 2", "a\n[exit code 2]", "error"),
            ("no-such-program-here 2>/dev/null", "[exit code 127]", "error"),
            ("kill -TERM $$", "[ended by signal 15 (SIGTERM)]", "error"),
            ("echo a >&2", "[stderr] a\n", "ok"),
            ("(echo a >&2) 2>&1", "a\n", "ok"),
            ("false; echo on", "on\n", "ok"),
            ("pwd -P | tail -c 6", "space\n", "ok"),
        ],
    )
    async def test_output_ends_with_how_the_command_ended(
        self, command: str, output: str, outcome: str, tmp_path: pathlib.Path
    ) -> None:
        root = tmp_path / "workspace"
        root.mkdir()
        result = await call(root, "bash", command=command)
        assert (result.output, result.outcome) == (output, outcome)
        assert result.is_error == (outcome != "ok")

    @pytest.mark.req("T-20")
    async def test_stop_on_error_stops_at_the_first_failure(self, tmp_path: pathlib.Path) -> None:
        result = await call(tmp_path, "bash", command="false; echo on", stop_on_error=True)
        assert result == Result("[exit code 1]")

    @pytest.mark.req("T-18")
    @pytest.mark.req("T-20")
    async def test_a_timeout_is_told_with_what_came_before(self, tmp_path: pathlib.Path) -> None:
        result = await call(tmp_path, "bash", command="echo begun; sleep 300", timeout=2)
        assert result.outcome == "timeout"
        assert result.is_error
        assert result.output == "begun\n[stopped after 2 s, with all that it had started]"

    @pytest.mark.fault("F14")
    async def test_what_was_left_running_is_told(self, tmp_path: pathlib.Path) -> None:
        result = await call(tmp_path, "bash", command="sleep 300 & echo ok")
        assert not result.is_error
        assert result.output.startswith("ok\n[1 process(es) still ran when the command ended")
        assert "sleep 300]" in result.output

    @pytest.mark.req("T-20")
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"timeout": 601}, "timeout must be between 1 and 600"),
            ({"command": "rm -rf /"}, "command is refused: 'rm -rf /' deletes"),
            ({"command": ""}, "command must not be empty"),
            ({"command": "a\x00b"}, "command holds a NUL character"),
            ({"command": "echo \ud800"}, "command holds half a character"),
            ({"command": "x" * 130_000}, "write it into a file and run that"),
        ],
    )
    def test_a_command_that_cannot_run_is_refused_before_anyone_is_asked(
        self, arguments: dict[str, Any], message: str, tmp_path: pathlib.Path
    ) -> None:
        with pytest.raises(BadArguments, match=message):
            prepared(tmp_path, "bash", **{"command": "true", **arguments})

    @pytest.mark.req("T-20")
    def test_the_default_timeout_is_two_minutes_and_the_command_is_shown_as_it_is(
        self, tmp_path: pathlib.Path
    ) -> None:
        made = prepared(tmp_path, "bash", command="echo 'a'\necho \u2013")
        assert made.arguments["timeout"] == 120
        assert (made.preview.kind, made.preview.body) == ("command", "echo 'a'\necho \u2013")

    @pytest.mark.req("T-20")
    async def test_secrets_of_the_node_are_not_in_the_environment(
        self, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hidden = ("SOME_API_KEY", "REDSHANK_REDIS__URL", "MY_TOKEN", "DB_PASSWORD")
        for name in (*hidden, "VISIBLE"):
            monkeypatch.setenv(name, "value-to-find")
        line = "env; tr '\\0' '\\n' < /proc/$PPID/environ"
        result = await call(tmp_path, "bash", command=line)
        assert result.output.count("VISIBLE=value-to-find") == 2
        assert result.output.count("value-to-find") == 2

    @pytest.mark.req("T-21")
    @pytest.mark.fault("F15")
    async def test_output_over_the_limit_keeps_head_tail_and_exit_code(
        self, tmp_path: pathlib.Path
    ) -> None:
        line = "echo first; yes \u20ac\u20ac\u20ac | head -n 100000; echo last; exit 3"
        result = await call(tmp_path, "bash", command=line)
        assert result.truncated
        assert len(result.output.encode()) <= LIMIT
        assert result.output.startswith("first\n\u20ac\u20ac\u20ac\n")
        assert result.output.endswith("last\n[exit code 3]")
        assert "bytes left out here" in result.output
        assert "\ufffd" not in result.output

    @pytest.mark.fault("F35")
    async def test_a_long_command_reaches_the_shell_as_it_was_approved(
        self, tmp_path: pathlib.Path
    ) -> None:
        body = "\u201cquotes\u201d \u2013 --dashes 'q' \"d\" `b` $x \\ \t\n" * 1000
        line = f"cat > got.txt <<'END'\n{body}END\n"
        made = prepared(tmp_path, "bash", command=line)
        assert made.preview.body == line
        await ran(tmp_path, "bash", made)
        assert (tmp_path / "got.txt").read_text() == body

    async def test_a_workspace_that_is_gone_is_an_error_for_the_operator(
        self, tmp_path: pathlib.Path
    ) -> None:
        result = await call(tmp_path / "none", "bash", command="true")
        assert result.is_error
        assert "the operator must mend this" in result.output
