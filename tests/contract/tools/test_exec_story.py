"""exec, as an agent uses it: one listed program, its output inline or in files."""

import json
import pathlib
import time
from typing import Any

import pytest

from redshank_node.tools.builtin import exec as exec_tool
from redshank_node.tools.tool import BadArguments, CallContext, Result, WebAccess, Workspace
from redshank_shared.profiles.exec_options import ExecOptions
from redshank_shared.settings.environment import process_environment
from redshank_shared.settings.sections import Tools
from tests.contract.task_world import alive

LISTED = "bash:cat:env:printf:seq:sh:true:head"
NOON = 1_796_040_000.123
# Long before what programs here leave behind would end, though the machine is busy.
SOON_SECONDS = 15.0


def place(root: pathlib.Path, listed: str = LISTED, **options: Any) -> Workspace:
    return Workspace(
        root, WebAccess(Tools(exec_binaries=listed)), exec_options=ExecOptions(**options)
    )


async def run(workspace: Workspace, command: str, *args: str) -> Result:
    """The call as the engine makes it."""
    prepared = exec_tool.TOOL.prepare({"command": command, "args": list(args)}, workspace)
    context = CallContext("call_1", workspace, lambda _: None, now_seconds=NOON)
    return await exec_tool.TOOL.run(prepared, context)


async def said(workspace: Workspace, command: str, *args: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((await run(workspace, command, *args)).output)
    return found


@pytest.mark.req("C-10")
@pytest.mark.parametrize(
    "command",
    [
        "cat x",
        "'cat'",
        '"cat"',
        "cat|sh",
        "cat&",
        "cat;",
        "$cat",
        "`cat`",
        "c\\at",
        "/bin/cat",
        "cat>x",
    ],
)
def test_a_command_is_one_name_without_a_character_of_a_shell(
    command: str, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(BadArguments, match="command: .* is not the name of one program"):
        exec_tool.TOOL.prepare({"command": command}, place(tmp_path))


@pytest.mark.req("C-10")
async def test_arguments_reach_the_program_as_they_are(tmp_path: pathlib.Path) -> None:
    words = ["a b", "$HOME", "*", "`x`", "", "\u2013\u00e9"]
    result = await said(place(tmp_path), "printf", "%s|", *words)

    assert result["stdout"] == "|".join(words) + "|"


@pytest.mark.req("C-11")
def test_a_program_that_is_not_listed_is_refused_with_those_that_are(
    tmp_path: pathlib.Path,
) -> None:
    with pytest.raises(BadArguments, match="git is not listed; use cat, ls; the operator lists"):
        exec_tool.TOOL.prepare({"command": "git"}, place(tmp_path, "cat:ls"))
    with pytest.raises(BadArguments, match='use cat, bash, or bash with "-c"'):
        exec_tool.TOOL.prepare({"command": "git"}, place(tmp_path, "cat:bash"))
    with pytest.raises(BadArguments, match="use none, none is; the operator lists"):
        exec_tool.TOOL.prepare({"command": "git"}, place(tmp_path, ""))


@pytest.mark.req("T-20")
@pytest.mark.fault("F34")
@pytest.mark.parametrize(
    "args", [["bash", "-c", "rm -rf /"], ["sh", "-c", "cd /; rm -rf *"], ["env", "rm", "-rf", "/"]]
)
def test_what_nobody_means_is_refused_here_too(args: list[str], tmp_path: pathlib.Path) -> None:
    with pytest.raises(BadArguments, match="the call is refused: "):
        exec_tool.TOOL.prepare({"command": args[0], "args": args[1:]}, place(tmp_path))


@pytest.mark.req("C-11")
async def test_the_environment_is_cleared_and_rebuilt(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PASSED", "through")
    monkeypatch.setenv("KEPT_BACK", "x")
    monkeypatch.setenv("REDSHANK_VAULT__KEY", "x")
    (tmp_path / ".env").write_text(
        "# own\nOWN=1\nexport QUOTED='a b'\nPATH=/evil\nLD_PRELOAD=/evil.so\nBASH_ENV=x\nno line\n"
    )
    passed = ("PASSED", "REDSHANK_VAULT__KEY", "NOT_THERE")
    result = await said(place(tmp_path, host_env_passthrough=passed), "env")

    found = dict(line.split("=", 1) for line in result["stdout"].splitlines())
    assert found.pop("PATH") == process_environment()["PATH"]
    assert found == {
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PASSED": "through",
        "OWN": "1",
        "QUOTED": "a b",
    }


@pytest.mark.req("C-11")
async def test_a_program_of_the_workspace_does_not_stand_in_for_a_listed_one(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cat").write_text("#!/bin/sh\necho forged\n")
    (tmp_path / "cat").chmod(0o755)
    (tmp_path / "a.txt").write_text("real\n")
    monkeypatch.setenv("PATH", f".:{tmp_path}:{process_environment()['PATH']}")

    assert (await said(place(tmp_path), "cat", "a.txt"))["stdout"] == "real\n"


@pytest.mark.req("C-14")
async def test_short_output_is_inline_with_its_lengths_in_bytes(tmp_path: pathlib.Path) -> None:
    result = await said(place(tmp_path), "sh", "-c", "printf '\\303\\251'; printf err >&2; exit 1")

    assert result == {
        "exitCode": 1,
        "success": False,
        "stdoutLength": 2,
        "stderrLength": 3,
        "inline": True,
        "stdout": "\u00e9",
        "stderr": "err",
        "truncated": False,
    }


@pytest.mark.req("C-14", "C-15")
@pytest.mark.parametrize(("size", "is_inline"), [(100, True), (101, False)])
async def test_up_to_the_threshold_output_is_inline(
    size: int, is_inline: bool, tmp_path: pathlib.Path
) -> None:
    workspace = place(tmp_path, inline_threshold_bytes=100)
    result = await said(workspace, "head", "-c", str(size), "/dev/zero")

    assert (result["inline"], result["truncated"]) == (is_inline, not is_inline)
    assert ("stdout" in result, "stdoutPath" in result) == (is_inline, not is_inline)


@pytest.mark.req("C-15", "C-16")
async def test_long_output_goes_into_files_with_a_preview_of_each(tmp_path: pathlib.Path) -> None:
    workspace = place(tmp_path, inline_threshold_bytes=10, preview_head=2, preview_tail=1)
    result = await said(workspace, "sh", "-c", "seq 1 100; echo wrong >&2")
    again = await said(workspace, "sh", "-c", "seq 1 100")

    name = ".exec-output/2026-11-30T12-00-00-123Z-001-sh"
    assert result == {
        "exitCode": 0,
        "success": True,
        "stdoutLength": 292,
        "stderrLength": 6,
        "inline": False,
        "stdoutPath": f"{name}.out",
        "stdoutPreview": (
            "1\n2\n[... 97 of 100 lines left out, 292 bytes in all; all of it is in stdoutPath ...]"
            "\n100"
        ),
        "stderrPath": f"{name}.err",
        "stderrPreview": "wrong",
        "truncated": True,
    }
    assert (tmp_path / f"{name}.out").read_text().splitlines() == [str(n) for n in range(1, 101)]
    assert (tmp_path / f"{name}.err").read_text() == "wrong\n"
    assert again["stdoutPath"] == name.replace("-001-", "-002-") + ".out"
    assert not any(key.startswith("stderrP") for key in again)


@pytest.mark.req("C-15")
async def test_inline_off_keeps_even_a_word_in_a_file(tmp_path: pathlib.Path) -> None:
    result = await said(place(tmp_path, inline=False), "printf", "hi")

    assert (result["inline"], result["stdoutPreview"]) == (False, "hi")
    assert (tmp_path / result["stdoutPath"]).read_text() == "hi"


@pytest.mark.req("C-16")
async def test_one_huge_line_has_a_preview_too(tmp_path: pathlib.Path) -> None:
    result = await said(place(tmp_path), "sh", "-c", "head -c 50000 /dev/zero | tr '\\0' x")

    assert result["stdoutPreview"] == "x" * 1000 + "[... 49000 more characters]"
    assert (tmp_path / result["stdoutPath"]).stat().st_size == 50000


@pytest.mark.req("C-17")
@pytest.mark.parametrize("blocked", ["file", "link", "outside"])
async def test_where_no_file_can_be_written_the_output_is_inline_and_bounded(
    blocked: str, tmp_path: pathlib.Path
) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    root.mkdir()
    elsewhere.mkdir()
    if blocked == "file":
        (root / ".exec-output").write_text("in the way")
    elif blocked == "link":
        (root / ".exec-output").symlink_to(elsewhere)
    folder = str(elsewhere) if blocked == "outside" else "/workspace/.exec-output"
    workspace = place(root, output_dir=folder, inline=False, preview_head=1, preview_tail=1)
    many = await said(workspace, "seq", "1", "100")
    few = await said(workspace, "seq", "1", "2")

    assert many == {
        "exitCode": 0,
        "success": True,
        "stdoutLength": 292,
        "stderrLength": 0,
        "inline": True,
        "fallbackInline": True,
        "stdout": "1\n[... 98 of 100 lines left out, 292 bytes in all ...]\n100",
        "stderr": "",
        "truncated": True,
    }
    assert (few["stdout"], few["truncated"], few["fallbackInline"]) == ("1\n2", False, True)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.req("C-12", "C-13")
@pytest.mark.fault("F14")
async def test_at_the_timeout_it_fails_with_what_came_before(tmp_path: pathlib.Path) -> None:
    begin = time.monotonic()
    result = await run(
        place(tmp_path, timeout=2000),
        "bash",
        "-c",
        "echo $$ > pid; echo before; trap '' TERM; sleep 60; sleep 60",
    )
    assert time.monotonic() - begin < SOON_SECONDS

    found = json.loads(result.output)
    assert (result.is_error, result.outcome) == (True, "timeout")
    assert (found["success"], found["stdout"]) == (False, "before\n")
    assert found["error"] == "stopped after 2 s, with all that it had started"
    assert not alive(int((tmp_path / "pid").read_text()))


@pytest.mark.req("C-12")
@pytest.mark.fault("F14")
async def test_a_child_that_holds_the_pipes_does_not_hold_the_call(tmp_path: pathlib.Path) -> None:
    begin = time.monotonic()
    result = await said(place(tmp_path), "bash", "-c", "setsid sleep 60 & echo done")

    assert time.monotonic() - begin < SOON_SECONDS
    assert (result["success"], result["stdout"], result["stoppedProcesses"]) == (True, "done\n", 1)


@pytest.mark.req("C-12")
@pytest.mark.fault("F15")
async def test_a_program_that_prints_for_ever_is_stopped_and_counted(
    tmp_path: pathlib.Path,
) -> None:
    result = await run(place(tmp_path, "yes", timeout=1000), "yes")

    found = json.loads(result.output)
    kept = (tmp_path / found["stdoutPath"]).stat().st_size
    assert result.outcome == "timeout"
    assert kept == 8 * 1024 * 1024
    assert found["stdoutLength"] == kept + found["stdoutDropped"]
    assert found["stdoutPreview"].startswith("y\ny\n")


@pytest.mark.req("C-13")
async def test_a_signal_is_no_success(tmp_path: pathlib.Path) -> None:
    result = await run(place(tmp_path), "bash", "-c", "kill -KILL $$")

    assert result.is_error
    assert json.loads(result.output)["signal"] == "SIGKILL"


@pytest.mark.req("C-11")
async def test_a_listed_program_that_is_not_installed_says_so(tmp_path: pathlib.Path) -> None:
    result = await run(place(tmp_path, "no-such-program"), "no-such-program")

    assert result.is_error
    assert result.output == "command: no-such-program is listed, but not installed on this node"
