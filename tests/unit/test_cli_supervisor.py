"""`redshank up`'s supervisor with small stand-in children, with a real Valkey."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from redshank_console.cli.up.child import ChildSpec
from redshank_console.cli.up.readiness import answers_health, answers_ping, is_ready
from redshank_console.cli.up.supervisor import Supervisor
from redshank_console.cli.up.valkey import embedded_valkey
from redshank_shared.domain.errors import Unavailable
from redshank_shared.settings.environment import process_environment

DEADLINE_SECONDS = 30.0
WAITS_FOR_TERM = "import signal, sys, time\nsignal.signal(15, lambda *_: sys.exit(0))\n"


def exists(path: Path) -> Callable[[], Awaitable[bool]]:
    async def probe() -> bool:
        return path.exists()

    return probe


def child(folder: Path, name: str, code: str, **given: object) -> ChildSpec:
    """A Python child that makes the file `name` when it is ready, as `code` says."""
    command = (sys.executable, "-c", f"import os, pathlib\nhere = {str(folder)!r}\n{code}")
    ready = exists(folder / name) if given.pop("once", False) is False else None
    return ChildSpec(name, command, process_environment(), ready, **given)  # type: ignore[arg-type]


def lives(folder: Path, name: str, **given: object) -> ChildSpec:
    code = (
        f"{WAITS_FOR_TERM}pathlib.Path(here, '{name}').write_text(str(os.getpid()))\n"
        "time.sleep(60)\n"
    )
    return child(folder, name, code, **given)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not holds():
            await asyncio.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def pid_in(path: Path) -> int:
    return int(path.read_text() or 0) if path.exists() else 0


async def nothing() -> None:
    return None


async def test_stages_start_in_order_and_all_ends_when_stopped(tmp_path: Path) -> None:
    order = "pathlib.Path(here, 'order').write_text(str(pathlib.Path(here, 'a').exists()))"
    stages = [
        [lives(tmp_path, "a", stop_rank=1)],
        [child(tmp_path, "once", order, once=True)],
        [lives(tmp_path, "b"), lives(tmp_path, "c")],
    ]
    supervisor = Supervisor(tmp_path, lambda _: None)

    async def greet() -> None:
        supervisor.stop()

    await supervisor.run(stages, greet)
    assert (tmp_path / "order").read_text() == "True"
    for name in "abc":
        assert not is_running(pid_in(tmp_path / name))


async def test_a_child_that_is_killed_is_started_again(tmp_path: Path) -> None:
    said: list[str] = []
    supervisor = Supervisor(tmp_path, said.append)
    spec = lives(tmp_path, "a")

    async def greet() -> None:
        first = pid_in(tmp_path / "a")
        os.kill(first, signal.SIGKILL)
        await until(lambda: pid_in(tmp_path / "a") not in (0, first))
        supervisor.stop()

    await supervisor.run([[spec]], greet)
    assert said == ["a ended (killed by SIGKILL), starts again in 0.2 s"]
    assert not is_running(pid_in(tmp_path / "a"))


async def test_pauses_double_while_a_child_keeps_dying(tmp_path: Path) -> None:
    said: list[str] = []
    supervisor = Supervisor(tmp_path, said.append)
    dies = child(tmp_path, "a", "pathlib.Path(here, 'a').touch()\nimport time; time.sleep(0.3)")

    async def greet() -> None:
        await until(lambda: len(said) == 3)
        supervisor.stop()

    await supervisor.run([[dies]], greet)
    assert [line.rpartition("in ")[2] for line in said] == ["0.2 s", "0.4 s", "0.8 s"]


async def test_a_child_that_never_comes_up_ends_the_start_with_the_end_of_its_log(
    tmp_path: Path,
) -> None:
    fails = child(tmp_path, "b", "print('console.port is odd')\nraise SystemExit(2)")
    supervisor = Supervisor(tmp_path, lambda _: None)
    with pytest.raises(Unavailable) as caught:
        await supervisor.run([[lives(tmp_path, "a")], [fails]], nothing)
    assert "b ended (exit code 2) before it was ready" in caught.value.detail
    assert "console.port is odd" in caught.value.detail
    assert not is_running(pid_in(tmp_path / "a"))


async def test_a_step_that_fails_ends_the_start(tmp_path: Path) -> None:
    fails = child(tmp_path, "migrate", "raise SystemExit(1)", once=True)
    supervisor = Supervisor(tmp_path, lambda _: None)
    with pytest.raises(Unavailable, match="migrate ended"):
        await supervisor.run([[fails], [lives(tmp_path, "a")]], nothing)
    assert not (tmp_path / "a").exists()


async def test_lower_ranks_are_gone_before_higher_ones_are_asked_to_stop(tmp_path: Path) -> None:
    node = child(
        tmp_path,
        "node",
        "import signal, sys, time\n"
        "def end(*_):\n time.sleep(0.3); pathlib.Path(here, 'drained').touch(); sys.exit(0)\n"
        "signal.signal(15, end)\npathlib.Path(here, 'node').touch()\ntime.sleep(60)",
    )
    valkey = child(
        tmp_path,
        "valkey",
        "import signal, sys, time\n"
        "def end(*_):\n"
        " pathlib.Path(here, 'saw').write_text(str(pathlib.Path(here, 'drained').exists()))\n"
        " sys.exit(0)\n"
        "signal.signal(15, end)\npathlib.Path(here, 'valkey').touch()\ntime.sleep(60)",
        stop_rank=2,
    )
    supervisor = Supervisor(tmp_path, lambda _: None)

    async def greet() -> None:
        supervisor.stop()

    await supervisor.run([[valkey], [node]], greet)
    assert (tmp_path / "saw").read_text() == "True"


async def test_a_child_that_will_not_end_is_killed_with_what_it_started(tmp_path: Path) -> None:
    said: list[str] = []
    code = (
        "import signal, subprocess, time\nsignal.signal(15, signal.SIG_IGN)\n"
        "started = subprocess.Popen(['sleep', '60'])\n"
        "pathlib.Path(here, 'grandchild').write_text(str(started.pid))\n"
        "pathlib.Path(here, 'a').touch()\ntime.sleep(60)"
    )
    supervisor = Supervisor(tmp_path, said.append)

    async def greet() -> None:
        supervisor.stop()

    await supervisor.run([[child(tmp_path, "a", code, stop_seconds=0.2)]], greet)
    assert said == ["a did not end in time: killed"]
    await until(lambda: not is_running(pid_in(tmp_path / "grandchild")))


async def test_warnings_of_children_reach_the_terminal(tmp_path: Path) -> None:
    said: list[str] = []
    code = (
        f"{WAITS_FOR_TERM}pathlib.Path(here, 'a').touch()\n"
        'print(\'{"level":"warning","event":"watch out"}\', flush=True)\ntime.sleep(60)'
    )
    supervisor = Supervisor(tmp_path, said.append)

    async def greet() -> None:
        await until(lambda: said != [])
        supervisor.stop()

    await supervisor.run([[child(tmp_path, "a", code)]], greet)
    assert said == ["a warning: watch out"]


@pytest.mark.fault("F-11")
def test_children_die_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    tests = Path(__file__).resolve().parents[1]
    code = (
        "import asyncio, pathlib, sys\n"
        "from tests.unit.test_cli_supervisor import lives, nothing\n"
        "from redshank_console.cli.up.supervisor import Supervisor\n"
        f"here = pathlib.Path({str(tmp_path)!r})\n"
        "asyncio.run(Supervisor(here, print).run([[lives(here, 'a')]], nothing))\n"
    )
    path = ":".join([str(tests.parent), *(entry for entry in sys.path if entry)])
    supervisor = subprocess.Popen([sys.executable, "-c", code], env={"PYTHONPATH": path})
    try:
        asyncio.run(until(lambda: pid_in(tmp_path / "a") != 0))
        pid = pid_in(tmp_path / "a")
        assert is_running(pid)
    finally:
        supervisor.kill()
        supervisor.wait()
    asyncio.run(until(lambda: not is_running(pid)))


async def test_an_embedded_valkey_comes_back_with_its_data_and_hides_its_password(
    tmp_path: Path,
) -> None:
    valkey = embedded_valkey(tmp_path, "canary-of-this-start")
    spec = valkey.spec({}, 0)
    supervisor = Supervisor(tmp_path, lambda _: None)

    async def ask(line: str) -> bytes:
        reader, writer = await asyncio.open_unix_connection(str(valkey.socket))
        writer.write(f"AUTH {valkey.password}\r\n{line}\r\n".encode())
        assert await reader.readline() == b"+OK\r\n"
        answer = await reader.readline()
        answer += await reader.readline() if answer.startswith(b"$") else b""
        writer.close()
        return answer

    async def greet() -> None:
        assert await ask("SET kept yes") == b"+OK\r\n"
        (keeper,) = supervisor.keepers
        first = keeper.pid
        assert first is not None
        assert b"canary" not in Path(f"/proc/{first}/cmdline").read_bytes()
        assert not await is_ready(answers_ping(str(valkey.socket), "wrong"))
        # What was written reaches the file within a second at the latest (everysec).
        await until(lambda: b"kept" in written_by(valkey.folder))
        os.kill(first, signal.SIGKILL)
        await until(lambda: keeper.pid not in (None, first))
        assert spec.ready is not None
        end = time.monotonic() + DEADLINE_SECONDS
        while not await is_ready(spec.ready):
            assert time.monotonic() < end
            await asyncio.sleep(0.01)
        assert await ask("GET kept") == b"$3\r\nyes\r\n"
        supervisor.stop()

    await supervisor.run([[spec]], greet)
    valkey.remove()
    assert not valkey.socket.exists()


def written_by(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*.aof"))


def test_a_socket_whose_path_would_be_too_long_lies_elsewhere(tmp_path: Path) -> None:
    data = tmp_path / ("long" * 30)
    data.mkdir()
    valkey = embedded_valkey(data, "p")
    assert len(str(valkey.socket)) <= 100
    assert valkey.socket.parent.stat().st_mode & 0o777 == 0o700
    valkey.remove()
    assert not valkey.socket.parent.exists()


async def test_health_is_ready_only_at_200() -> None:
    async def serve(status: str) -> bool:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await is_ready(answers_health("127.0.0.1", port))

    assert await serve("200 OK")
    assert not await serve("503 Service Unavailable")
    assert not await is_ready(answers_health("127.0.0.1", 9))
