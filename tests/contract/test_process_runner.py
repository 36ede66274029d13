"""The process runner: it ends in time, leaves nothing behind, and dies with its node."""

import asyncio
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import msgspec
import pytest

from redshank_node.tools.support.commands.processes import Command, Ended, run_command
from redshank_shared.settings.environment import process_environment
from redshank_shared.waiting import happened

DEADLINE_SECONDS = 20.0
# Long before what commands here leave behind would end, though the machine is busy.
SOON_SECONDS = 15.0
LIMIT = 262144


def command(line: str, folder: pathlib.Path, timeout_seconds: float = 20.0) -> Command:
    return Command(("bash", "-c", line), folder, process_environment(), timeout_seconds, LIMIT)


async def run(line: str, folder: pathlib.Path, timeout_seconds: float = 20.0) -> Ended:
    return await run_command(command(line, folder, timeout_seconds), lambda _: None)


def alive(process: int) -> bool:
    try:
        status = pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def until(condition: Callable[[], bool], seconds: float = DEADLINE_SECONDS) -> bool:
    """Whether the condition comes true before the deadline."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def noted(folder: pathlib.Path, count: int) -> list[int]:
    """The process ids that the command wrote into `pids`, once there are that many."""
    file = folder / "pids"
    assert until(lambda: file.exists() and file.read_text().count("\n") >= count)
    return [int(line) for line in file.read_text().split()]


TREE = (
    "echo $$ >> pids; sleep 300 & echo $! >> pids; "
    "setsid bash -c 'echo $$ >> pids; trap \"\" TERM HUP INT; sleep 300; sleep 300' & "
    "(setsid bash -c 'echo $$ >> pids; sleep 300; true' &) ; "
)


@pytest.mark.fault("F14")
@pytest.mark.parametrize(
    "line",
    [
        "echo done; sleep 300 &",
        "echo done; setsid sleep 300 &",
        "echo done; (setsid bash -c 'trap \"\" TERM; sleep 300; sleep 300' &)",
        "echo done; cat",
        "echo done; read -r word; echo $word >/dev/null",
        "echo done; nohup sleep 300 >/dev/null 2>&1 &",
    ],
)
async def test_a_command_ends_soon_whatever_it_leaves_behind(
    line: str, tmp_path: pathlib.Path
) -> None:
    start = time.monotonic()
    ended = await run(line, tmp_path)
    assert time.monotonic() - start < SOON_SECONDS
    assert (ended.code, ended.timed_out) == (0, False)
    assert ended.output.text()[0] == "done\n"
    assert ended.leftover_count == len(ended.leftovers)
    assert bool(ended.leftovers) == ("sleep" in line)
    for left in ended.leftovers:
        process, _, title = left.partition(" ")
        assert "sleep 300" in title
        assert not alive(int(process))


async def test_what_ends_by_itself_within_the_grace_is_no_leftover(tmp_path: pathlib.Path) -> None:
    patient = msgspec.structs.replace(
        command("(sleep 0.05; echo late) & echo first", tmp_path), leftover_grace_seconds=10.0
    )
    ended = await run_command(patient, lambda _: None)
    assert ended.output.text()[0] == "first\nlate\n"
    assert ended.leftovers == ()


@pytest.mark.req("T-20")
@pytest.mark.fault("F14")
async def test_at_the_timeout_the_whole_tree_ends_even_what_ignores_term(
    tmp_path: pathlib.Path,
) -> None:
    start = time.monotonic()
    ended = await run(TREE + "trap '' TERM; sleep 300; sleep 300", tmp_path, timeout_seconds=2.0)
    assert ended.timed_out
    assert 2.0 <= time.monotonic() - start < SOON_SECONDS
    assert ended.code == -signal.SIGKILL
    for process in noted(tmp_path, 4):
        assert not alive(process)


async def test_at_the_timeout_a_command_may_clean_up_on_term(tmp_path: pathlib.Path) -> None:
    line = "trap 'echo cleaned; exit 7' TERM; echo ready; while :; do sleep 0.02; done"
    ended = await run(line, tmp_path, timeout_seconds=2.0)
    assert (ended.timed_out, ended.code) == (True, 7)
    assert "cleaned" in ended.output.text()[0]


async def test_a_cancelled_task_kills_the_tree_before_the_cancellation_goes_on(
    tmp_path: pathlib.Path,
) -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(run(TREE + "sleep 300", tmp_path))
        processes = await asyncio.to_thread(noted, tmp_path, 4)
        start = time.monotonic()
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    assert task.cancelled()
    assert time.monotonic() - start < SOON_SECONDS
    for process in processes:
        assert not alive(process)


NODE = """
import asyncio, pathlib, sys
from redshank_node.tools.support.commands.processes import Command, run_command
folder = pathlib.Path(sys.argv[1])
command = Command(("bash", "-c", sys.argv[2]), folder, {"PATH": sys.argv[3]}, 300.0, 1000)
asyncio.run(run_command(command, lambda text: None))
"""


@contextlib.contextmanager
def node(folder: pathlib.Path, line: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does nothing but run this command, as a node would."""
    environment = {**process_environment(), "PYTHONPATH": os.pathsep.join(sys.path)}
    path = environment["PATH"]
    argv = [sys.executable, "-c", NODE, str(folder), line, path]
    with subprocess.Popen(argv, env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.fault("F11")
@pytest.mark.fault("F24")
@pytest.mark.parametrize(
    ("rest", "count"),
    [
        ("sleep 300", 4),
        ("kill -STOP $PPID; echo $$ >> pids; sleep 300", 5),
        ("yes", 4),
    ],
)
def test_everything_dies_with_a_node_that_is_killed(
    tmp_path: pathlib.Path, rest: str, count: int
) -> None:
    with node(tmp_path, TREE + rest) as process:
        tree = noted(tmp_path, count)
        assert all(alive(one) for one in tree)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert until(lambda: not any(alive(one) for one in tree))


@pytest.mark.fault("F24")
async def test_a_killed_supervisor_takes_the_command_with_it(tmp_path: pathlib.Path) -> None:
    line = "sleep 300 & echo $$ $! | xargs -n 1 > pids; kill -9 $PPID; wait; echo survived"
    ended = await run(line, tmp_path)
    assert ended.code is None
    assert "survived" not in ended.output.text()[0]
    tree = noted(tmp_path, 2)
    assert until(lambda: not any(alive(one) for one in tree))


async def test_a_command_that_stops_its_supervisor_is_ended_at_the_timeout(
    tmp_path: pathlib.Path,
) -> None:
    ended = await run("echo $$ > pids; kill -STOP $PPID; sleep 300", tmp_path, timeout_seconds=2.0)
    assert ended.timed_out
    assert not alive(noted(tmp_path, 1)[0])


@pytest.mark.req("T-20")
async def test_a_command_has_its_own_session_no_terminal_and_no_input(
    tmp_path: pathlib.Path,
) -> None:
    ended = await run(
        "ps -o pid=,pgid=,sid=,tty= -p $$; readlink /proc/$$/fd/0; ls /proc/$$/fd; true", tmp_path
    )
    pid_line, stdin, *descriptors = ended.output.text()[0].splitlines()
    pid, group, session, terminal = pid_line.split()
    assert pid == group == session
    assert terminal == "?"
    assert stdin == "/dev/null"
    assert set(descriptors) <= {"0", "1", "2", "255"}


async def test_a_command_gets_the_usual_signals_back(tmp_path: pathlib.Path) -> None:
    ended = await run("grep -E 'Sig(Blk|Ign)' /proc/self/status", tmp_path)
    masks = [int(line.split()[1], 16) for line in ended.output.text()[0].splitlines()]
    # 32 and 33 are glibc's own: what `make` starts has them ignored, and no program can change it.
    glibcs = 1 << 31 | 1 << 32
    assert [mask & ~glibcs for mask in masks] == [0, 0]


@pytest.mark.req("T-17")
async def test_output_reaches_watchers_while_the_command_runs(tmp_path: pathlib.Path) -> None:
    heard: list[str] = []
    first = asyncio.Event()

    def hear(text: str) -> None:
        heard.append(text)
        first.set()

    line = "echo one; until [ -e go ]; do sleep 0.01; done; echo two >&2; printf three"
    async with asyncio.TaskGroup() as group:
        task = group.create_task(run_command(command(line, tmp_path), hear))
        assert await happened(first, DEADLINE_SECONDS)
        assert heard == ["one\n"]
        (tmp_path / "go").touch()
        await task
    assert "".join(heard) == "one\n[stderr] two\nthree"


@pytest.mark.req("T-17")
async def test_watchers_hear_of_a_flood_at_most_twenty_times_a_second(
    tmp_path: pathlib.Path,
) -> None:
    heard: list[str] = []
    start = time.monotonic()
    line = "for n in $(seq 3000); do echo $n; done"
    ended = await run_command(command(line, tmp_path), heard.append)
    seconds = time.monotonic() - start
    assert ended.code == 0
    assert len(heard) <= seconds / 0.05 + 2
    assert heard[-1].endswith("3000\n")


@pytest.mark.req("T-17")
@pytest.mark.fault("F-12")
async def test_watchers_of_a_flood_see_whole_lines_behind_what_is_left_out(
    tmp_path: pathlib.Path,
) -> None:
    pieces: list[str] = []
    await run_command(command("seq -f 'line %08g whole' 100000", tmp_path), pieces.append)
    lines = set("".join(pieces).splitlines())
    assert "[...]" in lines
    assert not [line for line in lines if not re.fullmatch(r"line \d{8} whole|\[\.\.\.\]", line)]


async def test_parallel_commands_never_mix_their_output(tmp_path: pathlib.Path) -> None:
    async def one(mark: str) -> str:
        heard: list[str] = []
        line = f"for n in $(seq 200); do echo {mark}; done"
        await run_command(command(line, tmp_path), heard.append)
        return "".join(heard)

    assert await asyncio.gather(*(one(mark) for mark in "abcd")) == [
        f"{mark}\n" * 200 for mark in "abcd"
    ]


@pytest.mark.fault("F43")
@pytest.mark.fault("F15")
async def test_fifty_megabytes_of_nul_are_bounded_and_readable(tmp_path: pathlib.Path) -> None:
    ended = await run("echo first; head -c 50000000 /dev/zero; echo; echo last", tmp_path)
    text, cut = ended.output.text()
    assert cut
    assert len(text.encode()) <= LIMIT
    assert text.startswith("first\n\ufffd")
    assert text.endswith("\ufffd\nlast\n")
    assert "\x00" not in text


async def test_a_flood_does_not_keep_the_loop_from_other_work(tmp_path: pathlib.Path) -> None:
    """What this thread computes between two turns of the loop: the clock would tell of others."""
    spells = []

    async def tick() -> None:
        while True:
            begun = time.thread_time()
            await asyncio.sleep(0.01)
            spells.append(time.thread_time() - begun)

    async with asyncio.TaskGroup() as group:
        ticking = group.create_task(tick())
        ended = await run("yes", tmp_path, timeout_seconds=1.0)
        ticking.cancel()
    assert ended.timed_out
    assert max(spells) < 0.5


@pytest.mark.fault("F35")
@pytest.mark.parametrize(
    "word", ["--\u2013\u2014\u201cq\u201d\u2019'", "$&`\\", "a\tb\r", "\u00e9\u20ac\U0001f600"]
)
async def test_the_bytes_of_a_command_reach_it_unchanged(word: str, tmp_path: pathlib.Path) -> None:
    exact = Command(
        ("printf", "%s", word), tmp_path, {"PATH": process_environment()["PATH"]}, 10.0, LIMIT
    )
    ended = await run_command(exact, lambda _: None)
    assert ended.output.text()[0] == word


async def test_a_command_sees_exactly_the_environment_it_is_given(tmp_path: pathlib.Path) -> None:
    path = process_environment()["PATH"]
    given = {"PATH": path, "LANG": "C", "WORD": "\u00e9"}
    ended = await run_command(Command(("env",), tmp_path, given, 10.0, LIMIT), lambda _: None)
    assert sorted(ended.output.text()[0].splitlines()) == [
        "LANG=C",
        f"PATH={path}",
        "WORD=\u00e9",
    ]


async def test_a_program_or_folder_that_is_not_there_is_an_error_of_the_start(
    tmp_path: pathlib.Path,
) -> None:
    path = process_environment()["PATH"]
    missing = Command(("no-such-program",), tmp_path, {"PATH": path}, 10.0, LIMIT)
    with pytest.raises(FileNotFoundError):
        await run_command(missing, lambda _: None)
    with pytest.raises(FileNotFoundError):
        await run("true", tmp_path / "none")


async def test_a_hundred_runs_leave_no_descriptor_and_no_process(tmp_path: pathlib.Path) -> None:
    await run("true", tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        await asyncio.gather(*(run("true; sleep 0.001 &", tmp_path) for _ in range(10)))
    assert len(os.listdir("/proc/self/fd")) == before
    children = pathlib.Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text()
    assert not [child for child in children.split() if not alive(int(child))]
