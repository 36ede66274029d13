"""`redshank up`: everything on one machine with one command."""

import json
import os
import re
import resource
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bench.figures import figure
from tests.e2e.redshank_up import Home, Up, wait_until_gone

pytestmark = pytest.mark.timeout(120)


def home_in(folder: Path) -> Home:
    made = Home(folder)
    (made.workspace / "README.md").write_text("# A workspace\n")
    return made


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return home_in(tmp_path / "home")


@pytest.fixture(scope="module")
def kept_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The home of the one that runs for all tests that leave it as it is."""
    return home_in(tmp_path_factory.mktemp("kept") / "home")


@pytest.fixture(scope="module")
def running(kept_home: Home) -> Iterator[Up]:
    with kept_home.up() as up:
        yield up.ready()


@pytest.mark.req("B-31")
def test_with_no_key_and_no_service_an_answer_uses_a_tool(kept_home: Home, running: Up) -> None:
    done = kept_home.run("run", "read: README.md", "--wait")
    assert done.returncode == 0, done.stderr
    assert "# A workspace" in done.stdout
    assert "read_file" in done.stderr


@pytest.mark.req("B-30")
def test_a_call_that_waits_ends_with_6_and_runs_once_when_allowed(
    kept_home: Home, running: Up
) -> None:
    effect = kept_home.workspace / "a.txt"
    waits = kept_home.run("run", "run: echo hi >> a.txt", "--wait")
    assert waits.returncode == 6
    assert not effect.exists()
    found = re.search(r"redshank approvals allow (\S+)", waits.stderr)
    assert found, waits.stderr
    allowed = kept_home.run("approvals", "allow", found[1], "--wait")
    assert allowed.returncode == 0, allowed.stderr
    assert effect.read_text() == "hi\n"
    again = kept_home.run("approvals", "allow", found[1])
    assert again.returncode == 3
    assert effect.read_text() == "hi\n"


def test_an_unknown_workstream_ends_a_command_with_3(kept_home: Home, running: Up) -> None:
    assert kept_home.run("ws", "show", "no-such-name").returncode == 3
    assert kept_home.run("ws", "show", f"ws_{'0' * 22}").returncode == 3


@pytest.mark.req("B-23")
def test_a_running_turn_is_followed_and_stopped(kept_home: Home, running: Up) -> None:
    kept_home.run("run", "slow: 60 a b c d e f g h i j k l", "--name", "slow")
    tail = subprocess.Popen(
        kept_home.command("ws", "tail", "slow", "-f", "-o", "json"),
        cwd=kept_home.workspace,
        env=kept_home.environ,
        stdout=subprocess.PIPE,
        text=True,
    )
    with tail:
        assert tail.stdout is not None
        facts = []
        for line in tail.stdout:
            facts.append(json.loads(line))
            if facts[-1]["kind"] != "state":
                continue
            if facts[-1]["state"] != "running":
                break
            assert kept_home.run("ws", "cancel", "slow").returncode == 0
        tail.kill()
    assert "turn.cancelled" in [fact["kind"] for fact in facts]
    assert json.loads(kept_home.run("ws", "show", "slow", "-o", "json").stdout)["state"] == "idle"


@pytest.mark.req("B-4")
def test_a_fork_holds_the_log_up_to_a_number(kept_home: Home, running: Up) -> None:
    made = kept_home.run("ws", "create", "origin", "--label", "a", "-o", "json")
    assert json.loads(made.stdout)["labels"] == ["a"]
    assert kept_home.run("ws", "send", "origin", "hello", "--wait").returncode == 0
    origin = exported(kept_home, "origin")
    (message,) = [fact for fact in origin if fact["kind"] == "message.user"]
    made = kept_home.run("ws", "fork", "origin", "--after", str(message["seq"]), "-o", "json")
    assert made.returncode == 0, made.stderr
    forked = exported(kept_home, json.loads(made.stdout)["id"])
    assert [f["text"] for f in forked if f["kind"] == "message.user"] == ["hello"]
    assert "message.assistant" in [fact["kind"] for fact in origin]
    assert "message.assistant" not in [fact["kind"] for fact in forked]


def exported(home: Home, named: str) -> list[dict[str, Any]]:
    lines = home.run("ws", "export", named).stdout.splitlines()
    return [json.loads(line) for line in lines]


def test_a_message_to_a_closed_workstream_ends_with_4(kept_home: Home, running: Up) -> None:
    kept_home.run("ws", "create", "over")
    assert kept_home.run("ws", "close", "over").returncode == 0
    refused = kept_home.run("ws", "send", "over", "hello")
    assert refused.returncode == 4
    assert "closed" in refused.stderr


def test_lists_are_tables_or_json(kept_home: Home, running: Up) -> None:
    kept_home.run("ws", "create", "listed")
    table = kept_home.run("ws", "ls", "listed").stdout.splitlines()
    assert table[0].split() == ["ID", "STATE", "WAITS", "FOR", "NODE", "MODE", "CALLS", "NAME"]
    (item,) = json.loads(kept_home.run("ws", "ls", "listed", "-o", "json").stdout)
    assert item["id"] in table[1]


def test_it_prints_one_sign_in_link(kept_home: Home, running: Up) -> None:
    assert len(re.findall(rf"{kept_home.url}/#/signin\?code=\S+", running.text)) == 1
    token = kept_home.data / "admin.token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600


def test_a_second_up_on_the_same_folder_is_refused_with_the_firsts_pid(
    kept_home: Home, running: Up
) -> None:
    second = kept_home.run("up", "--data", str(kept_home.data), "--port", "1")
    assert second.returncode == 4
    assert f"pid {running.process.pid}" in second.stderr
    assert running.process.poll() is None


def test_ctrl_c_stops_all_and_the_next_start_goes_on_with_the_same_data(home: Home) -> None:
    with home.up("--nodes", "2") as up:
        up.ready()
        children = up.children()
        assert home.run("run", "read: README.md", "--name", "first", "--wait").returncode == 0
        began = time.monotonic()
        token = (home.data / "admin.token").read_text()
        assert up.stop() == 0
        figure("all is stopped", time.monotonic() - began, 15, "s")
        wait_until_gone(list(children.values()), 15)
    with home.up() as up:
        up.ready()
        assert (home.data / "admin.token").read_text() == token
        shown = home.run("ws", "show", "first", "-o", "json")
        assert json.loads(shown.stdout)["state"] == "idle"
        assert home.run("ws", "send", "first", "read: README.md", "--wait").returncode == 0


def test_what_dies_is_started_again_and_work_goes_on(home: Home) -> None:
    with home.up() as up:
        up.ready()
        for which in ("node", "console", "valkey"):
            pid = up.children()[which]
            told = len(up.text)
            os.kill(pid, signal.SIGKILL)
            wait_until_gone([pid], 15)
            end = time.monotonic() + 60
            while up.children().get(which) in (None, pid):
                assert time.monotonic() < end
                time.sleep(0.02)
            assert "starts again in 0.2 s" in up.text[told:]
            done = home.run("run", "read: README.md", "--wait")
            while done.returncode == 5 and time.monotonic() < end:
                done = home.run("run", "read: README.md", "--wait")
            assert done.returncode == 0, f"{which}: {done.stderr}{up.text}"
            assert "# A workspace" in done.stdout


@pytest.mark.fault("F-11")
def test_no_child_outlives_a_killed_up(home: Home) -> None:
    with home.up("--nodes", "2") as up:
        up.ready()
        children = up.children()
        assert {"node", "console", "valkey"} <= set(children)
        up.process.kill()
        up.process.wait()
        wait_until_gone(list(children.values()), 15)
    with home.up() as up:
        up.ready()


def test_a_port_in_use_is_refused_with_the_flag_and_the_key(home: Home) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", home.console_port))
        taken.listen()
        done = home.run("up", "--data", str(home.data))
    assert done.returncode == 4
    for word in (str(home.console_port), "--port", "console.port"):
        assert word in done.stderr
    assert not (home.data / "redshank.db").exists()


def test_a_configuration_with_an_unknown_key_is_refused_before_anything_starts(
    home: Home, tmp_path: Path
) -> None:
    file = tmp_path / "redshank.toml"
    file.write_text("[console]\nprot = 1\n")
    done = home.run("up", "--data", str(home.data), "--config", str(file))
    assert done.returncode == 2
    assert "did you mean port?" in done.stderr
    assert not home.data.exists()


@pytest.mark.fault("F-48")
def test_a_model_whose_key_is_not_set_is_refused_before_anything_starts(
    home: Home, tmp_path: Path
) -> None:
    file = tmp_path / "redshank.toml"
    file.write_text("[models.main]\nprovider='openai'\nmodel='x'\napi_key_env='NO_SUCH_KEY'\n")
    done = home.run("up", "--data", str(home.data), "--config", str(file))
    assert done.returncode == 2
    assert "NO_SUCH_KEY" in done.stderr
    assert not home.data.exists()


@pytest.mark.fault("F-12")
def test_no_log_and_no_command_line_holds_a_secret(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "redshank.toml"
    file.write_text(
        "[models.main]\nprovider='openai'\nmodel='x'\napi_key_env='CANARY'\n"
        "base_url='http://127.0.0.1:9/v1'\n"
    )
    home.environ["CANARY"] = "sk-canary-0123456789"
    with home.up("--config", str(file)) as up:
        up.ready()
        token = (home.data / "admin.token").read_text().strip()
        home.run("ws", "create", "--message", "hello")
        lines = [
            Path(f"/proc/{pid}/cmdline").read_bytes().decode() for pid in up.children().values()
        ]
        printed = up.text
    kept = [path.read_text() for path in (home.data / "logs").iterdir()]
    for text in (*lines, *kept, printed):
        assert "sk-canary" not in text
        assert token not in text


def test_an_unreachable_console_ends_a_command_with_5(home: Home) -> None:
    done = home.run("ws", "ls", "--url", home.url, "--token", "rs_x")
    assert done.returncode == 5
    assert "redshank up" in done.stderr


def test_without_a_token_a_command_says_where_to_get_one(home: Home) -> None:
    done = home.run("ws", "ls")
    assert done.returncode == 4
    assert "REDSHANK_TOKEN" in done.stderr


@pytest.mark.req("B-30")
def test_help_comes_at_once(home: Home) -> None:
    home.run("--help")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = home.run("--help")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "Exit codes" in done.stdout
    # The processor's time, which other work on the machine hardly changes.
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    figure("help takes of the processor", spent, 0.6, "s")
