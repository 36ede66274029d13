"""bash, as an agent uses it: whatever a command does, the call ends in time, nothing is left."""

import asyncio
import pathlib
import time
from typing import Any

import pytest

from redshank_node.tools.builtin import bash
from redshank_node.tools.tool import BadArguments, CallContext, Result, WebAccess, Workspace
from redshank_shared.settings.sections import Tools
from tests.contract.task_world import alive, until

LIMIT = 262144
# Long before what commands here leave behind would end, though the machine is busy.
SOON_SECONDS = 15.0


async def call(root: pathlib.Path, heard: list[str] | None = None, **arguments: Any) -> Result:
    """The call as the engine makes it."""
    workspace = Workspace(root)
    prepared = bash.TOOL.prepare(arguments, workspace)
    emit = heard.append if heard is not None else lambda _: None
    return await bash.TOOL.run(prepared, CallContext("call_1", workspace, emit, LIMIT))


def pids(root: pathlib.Path) -> list[int]:
    file = root / "pids"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


@pytest.mark.fault("F14")
@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("sleep 60 & echo $! > pids; echo done", "done\n"),
        ("setsid sleep 60 & echo done", "done\n"),
        ("(setsid bash -c 'echo $$ > pids; exec sleep 60' &); sleep 0.05; echo done", "done\n"),
        ("nohup sleep 60 > /dev/null 2>&1 & echo $! > pids; disown; echo done", "done\n"),
        ("cat; echo done", "done\n"),
        ("read -r -p 'Password: ' word; echo got=$word", "got=\n"),
        ("python3 -c 'input()'; echo done", "EOFError"),
        ("bash -c \"trap '' TERM HUP; sleep 60; sleep 60\" & echo done", "done\n"),
    ],
)
async def test_a_command_that_would_go_on_or_wait_ends_at_once(
    tmp_path: pathlib.Path, command: str, output: str
) -> None:
    begin = time.monotonic()
    result = await call(tmp_path, command=command, timeout=20)

    assert time.monotonic() - begin < SOON_SECONDS
    assert not result.is_error
    assert output.strip() in result.output
    assert not any(alive(process) for process in pids(tmp_path))


@pytest.mark.fault("F14")
@pytest.mark.req("T-18")
@pytest.mark.parametrize(
    "command",
    [
        "trap '' TERM; echo $$ > pids; echo before; while :; do sleep 60; done",
        "echo $$ > pids; echo before; yes",
        "echo $$ > pids; echo before; kill -STOP $$",
        "echo $$ > pids; echo before; exec 1>&- 2>&-; sleep 60",
    ],
)
async def test_a_command_that_never_ends_is_stopped_with_all_that_it_said(
    tmp_path: pathlib.Path, command: str
) -> None:
    begin = time.monotonic()
    result = await call(tmp_path, command=command, timeout=2)

    assert 2 <= time.monotonic() - begin < SOON_SECONDS
    assert (result.is_error, result.outcome) == (True, "timeout")
    assert result.output.startswith("before\n")
    assert result.output.endswith("[stopped after 2 s, with all that it had started]")
    assert len(result.output.encode()) <= LIMIT
    assert not any(alive(process) for process in pids(tmp_path))


@pytest.mark.fault("F15")
@pytest.mark.req("T-21")
@pytest.mark.parametrize(
    ("command", "output"),
    [
        (r"printf '\xff\xfe\xc3\x28\n'", "\ufffd\ufffd\ufffd(\n"),
        (r"printf 'a\0b\n'", "a\ufffdb\n"),
        (r"printf '\xe2\x82'", "\ufffd"),
        ("echo out; echo err >&2", "out\n[stderr] err\n"),
        ("{ echo out; echo err >&2; } 2>&1", "out\nerr\n"),
        ("printf 'one\\ntwo' >&2", "[stderr] one\n[stderr] two"),
    ],
)
async def test_output_is_text_whatever_the_bytes(
    tmp_path: pathlib.Path, command: str, output: str
) -> None:
    result = await call(tmp_path, command=command)

    assert sorted(result.output.splitlines()) == sorted(output.splitlines())


@pytest.mark.fault("F15")
@pytest.mark.req("T-21")
async def test_one_line_of_50_megabytes_keeps_its_ends(tmp_path: pathlib.Path) -> None:
    result = await call(
        tmp_path, command="echo first; head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last"
    )

    assert result.truncated
    assert len(result.output.encode()) <= LIMIT
    assert result.output.startswith("first\nxxx")
    assert result.output.endswith("xxx\nlast\n")
    assert "bytes left out here" in result.output


@pytest.mark.req("T-17")
async def test_lines_are_heard_while_the_command_runs(tmp_path: pathlib.Path) -> None:
    heard: list[str] = []
    async with asyncio.TaskGroup() as group:
        running = group.create_task(
            call(
                tmp_path, heard, command="echo one; until [ -e go ]; do sleep 0.01; done; echo two"
            )
        )
        await until(lambda: heard == ["one\n"], "the first line is heard")
        assert not running.done()
        (tmp_path / "go").touch()

    assert "".join(heard) == running.result().output == "one\ntwo\n"


@pytest.mark.req("T-18")
@pytest.mark.parametrize(
    ("command", "is_error"),
    [
        ("exit 0", False),
        ("exit 1", False),
        ("exit 2", True),
        ("exit 255", True),
        ("kill -TERM $$", True),
        ("no-such-program-at-all", True),
    ],
)
async def test_only_from_exit_code_2_on_is_it_an_error(
    tmp_path: pathlib.Path, command: str, is_error: bool
) -> None:
    assert (await call(tmp_path, command=command)).is_error is is_error


@pytest.mark.fault("F35")
@pytest.mark.parametrize(
    "text",
    [
        "--dry\u2011run \u2013 \u2014",
        "\u201cquoted\u201d \u2018so\u2019",
        "a\\b $HOME `x`",
        "tab\there\u00a0",
    ],
)
async def test_the_bytes_of_the_command_are_those_that_were_approved(
    tmp_path: pathlib.Path, text: str
) -> None:
    command = f"cat <<'END'\n{text}\nEND"
    prepared = bash.TOOL.prepare({"command": command}, Workspace(tmp_path))
    assert (prepared.arguments["command"], prepared.preview.body) == (command, command)

    assert (await call(tmp_path, command=command)).output == f"{text}\n"


@pytest.mark.req("T-20")
def test_the_default_timeout_is_the_operators(tmp_path: pathlib.Path) -> None:
    place = Workspace(tmp_path, WebAccess(Tools(bash_timeout_seconds=7)))

    assert bash.TOOL.prepare({"command": "true"}, place).arguments["timeout"] == 7
    assert bash.TOOL.prepare({"command": "true", "timeout": 9}, place).arguments["timeout"] == 9


@pytest.mark.req("T-20")
@pytest.mark.parametrize("seconds", [0, 601, -5])
def test_a_timeout_has_its_bounds(tmp_path: pathlib.Path, seconds: int) -> None:
    with pytest.raises(BadArguments, match="timeout must be between 1 and 600"):
        bash.TOOL.prepare({"command": "true", "timeout": seconds}, Workspace(tmp_path))


@pytest.mark.req("T-20", "K-24")
@pytest.mark.parametrize("how", ["background", "network"])
def test_a_dangerous_command_is_refused_however_it_is_to_run(
    how: str, tmp_path: pathlib.Path
) -> None:
    with pytest.raises(BadArguments, match="command is refused: 'rm -rf /' deletes /"):
        bash.TOOL.prepare({"command": "rm -rf /", how: True}, Workspace(tmp_path))


@pytest.mark.req("K-24")
async def test_without_a_keeper_of_tasks_nothing_runs_in_the_background(
    tmp_path: pathlib.Path,
) -> None:
    result = await call(tmp_path, command="touch there", background=True)

    assert result.is_error
    assert result.output == "background: there are no background tasks here; leave it out"
    assert list(tmp_path.iterdir()) == []
