"""The parts of `redshank up` that start nothing: folder, token, ports, logs, plan."""

import socket
import stat
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from redshank_console.cli.up import child_log, plan
from redshank_console.cli.up.child_log import ChildLog
from redshank_console.cli.up.data_folder import admin_token, hold
from redshank_console.cli.up.greeting import greeting
from redshank_console.cli.up.ports import WantedPort, refuse_used
from redshank_shared.domain.errors import Conflict, Misconfigured
from redshank_shared.settings.load import load

HOLDS = """
import sys, pathlib
from redshank_console.cli.up.data_folder import hold
folder = hold(pathlib.Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_start_on_the_same_folder_is_refused_with_the_pid(tmp_path: Path) -> None:
    path = [entry for entry in sys.path if entry]
    first = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"PYTHONPATH": ":".join(path)},
    )
    with first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"held\n"
        with pytest.raises(Conflict, match=rf"pid {first.pid}\).*--data"):
            hold(tmp_path)
        first.kill()
        first.wait()
    hold(tmp_path).release()


def test_the_folder_and_its_token_are_for_their_owner_alone(tmp_path: Path) -> None:
    folder = hold(tmp_path / "deep" / "data")
    token = admin_token(folder.path / "admin.token")
    folder.release()
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder.path / "admin.token").stat().st_mode) == 0o600
    assert len(token) >= 40
    assert admin_token(folder.path / "admin.token") == token


def test_a_folder_that_cannot_be_made_is_named_with_the_flag(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Misconfigured, match="--data"):
        hold(tmp_path / "file" / "data")


def test_a_port_in_use_is_named_with_the_flag_and_the_key() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(Conflict) as caught:
            refuse_used(WantedPort("127.0.0.1", port, "console", "--port", "console.port"))
    for word in (str(port), "console", "--port", "console.port"):
        assert word in caught.value.detail
    refuse_used(WantedPort("127.0.0.1", port, "console", "--port", "console.port"))


def test_a_host_of_another_machine_is_refused() -> None:
    with pytest.raises(Misconfigured, match="192.0.2.1"):
        refuse_used(WantedPort("192.0.2.1", 8090, "console", "--port", "console.port"))


def test_only_warnings_and_errors_of_a_log_are_told_each_once(tmp_path: Path) -> None:
    path = tmp_path / "node-1.log"
    path.write_text('{"level":"error","event":"of an earlier start"}\n')
    log = ChildLog(path)
    with path.open("a") as file:
        file.write('{"level":"info","event":"a"}\n{"level":"warning","event":"b"}\nplain\n')
        file.write('{"level":"error","event":"c"}\n{"level":"error","event":"cut')
    assert log.warnings() == ["warning: b", "error: c"]
    with path.open("a") as file:
        file.write(' off"}\n')
    assert log.warnings() == ["error: cut off"]
    assert log.warnings() == []


def test_a_warning_that_only_repeats_is_told_once_until_something_else_comes(
    tmp_path: Path,
) -> None:
    log = ChildLog(tmp_path / "node.log")
    away, back = '{"level":"warning","event":"no Redis"}\n', '{"level":"info","event":"back"}\n'
    for lines, told in ((away * 3, 1), (away, 0), (back + away, 1)):
        with log.path.open("a") as file:
            file.write(lines)
        assert log.warnings() == ["warning: no Redis"] * told


def test_a_log_that_is_too_large_is_moved_aside_and_the_writer_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_log, "LARGEST_BYTES", 100)
    path = tmp_path / "node-1.log"
    log = ChildLog(path)
    with path.open("ab", buffering=0) as writer:
        for age in "1234":
            writer.write(age.encode() * 200 + b"\n")
            log.warnings()
            log.rotate()
        writer.write(b'{"level":"error","event":"after"}\n')
    assert log.warnings() == ["error: after"]
    kept = sorted(each.name for each in tmp_path.iterdir())
    assert kept == ["node-1.log", "node-1.log.1", "node-1.log.2", "node-1.log.3"]
    assert path.with_suffix(".log.1").read_text().startswith("4")
    assert path.with_suffix(".log.3").read_text().startswith("2")


def started(tmp_path: Path, **environ: str) -> plan.Start:
    return plan.Start(
        settings=load(None, {"HOME": "/nowhere", **environ}),
        database_url="sqlite:////data/redshank.db",
        redis_url="unix:///data/valkey.sock",
        admin_token_file=tmp_path / "admin.token",
        workspace=tmp_path,
        data=tmp_path / "data",
        node_name="host",
        nodes=2,
        environ={"PATH": "/bin", **environ},
    )


@pytest.mark.fault("F-42")
def test_every_child_gets_the_same_settings(tmp_path: Path) -> None:
    stages = plan.stages(started(tmp_path), None)
    assert [[spec.name for spec in stage] for stage in stages] == [
        ["migrate"],
        ["console", "node-1", "node-2"],
    ]
    for stage in stages:
        for spec in stage:
            assert spec.environment["REDSHANK_DATABASE__URL"] == "sqlite:////data/redshank.db"
            assert spec.environment["REDSHANK_REDIS__URL"] == "unix:///data/valkey.sock"
            assert spec.environment["PATH"] == "/bin"
            assert load(None, {**spec.environment, "HOME": "/nowhere"}).log.format == "json"


def test_nodes_have_their_own_port_and_name(tmp_path: Path) -> None:
    _, (_, *nodes) = plan.stages(started(tmp_path), None)
    given = [
        (node.environment["REDSHANK_NODE__PORT"], node.environment["REDSHANK_NODE__NAME"])
        for node in nodes
    ]
    assert given == [("8081", "host-1"), ("8082", "host-2")]


def test_nodes_are_stopped_first_and_have_their_grace(tmp_path: Path) -> None:
    _, (console, *nodes) = plan.stages(started(tmp_path), None)
    assert all(node.stop_rank < console.stop_rank for node in nodes)
    assert {node.stop_seconds for node in nodes} == {10.0}


def test_a_gateway_is_started_where_one_is_set_up_and_stopped_behind_the_nodes(
    tmp_path: Path,
) -> None:
    start = started(tmp_path, REDSHANK_GATEWAY__PORT="9191", REDSHANK_CONSOLE__PORT="9190")
    _, (*others, gateway) = plan.stages(start, None)
    assert gateway.name == "gateway"
    assert gateway.environment["REDSHANK_GATEWAY__CONSOLE_URL"] == "http://127.0.0.1:9190"
    nodes = [spec for spec in others if spec.name.startswith("node")]
    assert all(node.stop_rank < gateway.stop_rank for node in nodes)
    assert [wanted.port for wanted in plan.ports(start.settings, 1)] == [9190, 8081, 9191]


@pytest.mark.fault("F42")
def test_all_children_get_one_service_secret_the_operators_own_if_there_is_one() -> None:
    variable = "REDSHANK_SLOT__GATEWAY_SERVICE"
    settings = load(None, {"HOME": "/nowhere"})
    assert plan.with_service_secret(settings, {}, "fresh") == {variable: "fresh"}
    environ = {"HOME": "/nowhere", variable: "own"}
    assert plan.with_service_secret(load(None, environ), environ, "fresh") == environ


def test_a_log_form_that_was_asked_for_is_kept(tmp_path: Path) -> None:
    (migrate,), _ = plan.stages(started(tmp_path, REDSHANK_LOG__FORMAT="console"), None)
    assert migrate.environment["REDSHANK_LOG__FORMAT"] == "console"


def test_a_console_on_all_addresses_is_reached_on_the_loopback() -> None:
    settings = load(None, {"HOME": "/nowhere", "REDSHANK_CONSOLE__HOST": "0.0.0.0"})
    assert plan.console_url(settings) == "http://127.0.0.1:8090"


def test_the_greeting_says_where_to_go_and_never_a_key(tmp_path: Path) -> None:
    models = load(None, {"HOME": "/nowhere", "OPENAI_API_KEY": "sk-canary"}).models
    link = "http://127.0.0.1:8090/#/signin?code=abc"
    text = greeting("http://127.0.0.1:8090", link, tmp_path, Path("/work"), models, 1)
    for word in (link, str(tmp_path / "logs"), "/work", "openai", "Ctrl-C"):
        assert word in text
    assert "canary" not in text
    assert "sign in" not in greeting("http://h", "", tmp_path, Path("/work"), models, 1)


def test_a_spec_shows_no_password_on_its_command_line(tmp_path: Path) -> None:
    stages = plan.stages(started(tmp_path), None)
    commands = msgspec.json.encode([spec.command for stage in stages for spec in stage])
    assert b"redshank.db" not in commands
