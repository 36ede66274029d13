"""What a command tries in order to get out of its sandbox, each refused."""

import asyncio
import os
import pathlib
import subprocess

import pytest

from tests.contract.escape.confined import SECRET, Grounds, python, ran, sandbox
from tests.contract.escape.conftest import Servers

BACKENDS = ("bwrap", "landlock")

# {other}, {data}, {settings}: paths outside; {victim}, {node}: processes. What gets out says so.
READING = {
    "shadow": "cat /etc/shadow && echo ESCAPED",
    "other_workspace": "cat {other}/secret.txt",
    "relative": "cat ../other/secret.txt",
    "climbing": "cd .. && cat other/secret.txt",
    "vault_key": "cat {data}/vault.key",
    "database": "cat {data}/redshank.db",
    "settings": "cat {settings}",
    "listing": "ls {other} | grep secret && echo ESCAPED",
    "finding": "find {top} -name 'secret.txt' -exec cat {{}} ';'",
    "link": "cat secret",
    "link_to_folder": "cat out/secret.txt",
    "absolute_link": "cat out_absolute/secret.txt",
    "chain_of_links": "cat chain/secret.txt",
    "new_link": "ln -s {other}/secret.txt new && cat new",
    "swapped_link": (
        "for i in $(seq 100); do ln -sfn {other} s; cat s/secret.txt; ln -sfn . s; done"
    ),
    "hard_link": "ln {other}/secret.txt hard && cat hard && echo ESCAPED",
    "own_root": "cat /proc/self/root{other}/secret.txt",
    "others_root": "cat /proc/{victim}/root{other}/secret.txt",
    "others_folder": "cat /proc/{victim}/cwd/secret.txt",
    "parent_root": "cat /proc/$PPID/root{other}/secret.txt",
    "first_root": "cat /proc/1/root{other}/secret.txt",
    "environment": "tr '\\0' '\\n' </proc/{victim}/environ",
    "all_environments": "cat /proc/[0-9]*/environ | tr '\\0' '\\n'",
    "memory_map": "cat /proc/{victim}/maps && echo ESCAPED",
    "home": "ls -A /root | grep -q . && echo ESCAPED",
    "logs": "ls /var/log && echo ESCAPED",
    "block_device": "head -c 1 /dev/vda /dev/sda /dev/nvme0n1 | grep -q . && echo ESCAPED",
    "kernel_memory": "head -c 1 /dev/mem /dev/kmem /proc/kcore | grep -qa . && echo ESCAPED",
    "mapped_file": python(
        "import mmap\n"
        "with open('{other}/secret.txt') as f: print(mmap.mmap(f.fileno(), 0, prot=1).read())"
    ),
    "ptrace": python(
        "import ctypes\n"
        "c = ctypes.CDLL(None)\n"
        "if c.ptrace(16, {victim}, 0, 0) == 0: c.ptrace(17, {victim}, 0, 0); print('ESCAPED')"
    ),
    "process_memory": python(
        "import re\n"
        "with open('/proc/{victim}/maps') as f: start = re.match('[0-9a-f]+', f.read())[0]\n"
        "with open('/proc/{victim}/mem', 'rb') as f: f.seek(int(start, 16)); f.read(1)\n"
        "print('ESCAPED')"
    ),
}
WRITING = {
    "new_file": "echo x >{other}/new.txt && echo ESCAPED",
    "append": "echo x >>{other}/secret.txt && echo ESCAPED",
    "through_link": "echo x >out/new.txt && echo ESCAPED",
    "through_dangling_link": "echo x >gone_outside && echo ESCAPED",
    "truncate": "truncate -s 0 {data}/vault.key && echo ESCAPED",
    "remove": "rm {other}/secret.txt && echo ESCAPED",
    "rename_over": "mv src/main.py {other}/secret.txt && echo ESCAPED",
    "rename": "mv {other}/secret.txt . && echo ESCAPED",
    "move_out": "mv src/main.py {other}/ && echo ESCAPED",
    "mode": "chmod 777 {other} && echo ESCAPED",
    "owner": "chown 1 {other}/secret.txt && echo ESCAPED",
    "folder": "mkdir {other}/new && echo ESCAPED",
    "times": "touch {other}/secret.txt && echo ESCAPED",
    "programs": "touch /usr/local/bin/escape-test && rm /usr/local/bin/escape-test && echo ESCAPED",
    "etc": "touch /etc/escape-test && rm /etc/escape-test && echo ESCAPED",
    "var": "touch /var/lib/escape-test && rm /var/lib/escape-test && echo ESCAPED",
    # Opened, never written: a kernel that runs a program of the command's choice is lost.
    "kernel_settings": python(
        "import os\n"
        "null = os.stat('/dev/null').st_rdev\n"
        "for top, folders, files in os.walk('/proc'):\n"
        "    folders[:] = [f for f in folders if not f.isdigit() and not f.endswith('self')]\n"
        "    for path in [os.path.join(top, f) for f in files]:\n"
        "        try: held = os.open(path, os.O_WRONLY | os.O_NONBLOCK)\n"
        "        except OSError: continue\n"
        "        if os.fstat(held).st_rdev != null: print('ESCAPED', path)\n"
        "        os.close(held)"
    ),
    "device_node": "mknod {other}/disk b 254 0 && echo ESCAPED; mknod disk b 254 0 && echo ESCAPED",
    "fifo": "mkfifo {other}/pipe && echo ESCAPED",
}
POWERS = {
    "mount": "mkdir -p m && mount -t tmpfs none m && umount m && echo ESCAPED",
    "bind_mount": "mkdir -p m && mount --bind {other} m && cat m/secret.txt; umount m",
    "new_namespaces": "unshare -m true && echo ESCAPED",
    "new_users": "unshare -Ur true && echo ESCAPED",
    "new_network": "unshare -n true && echo ESCAPED",
    "join_namespaces": "nsenter -t {victim} -m true && echo ESCAPED",
    "chroot": "mkdir -p r && chroot / true && echo ESCAPED",
    "stop_node": "kill -0 {node} && echo ESCAPED",
    "stop_victim": "kill -STOP {victim} && kill -CONT {victim} && echo ESCAPED",
    "priority": "nice -n -5 true 2>&1 | grep -q . || echo ESCAPED",
    "time": "date -s @$(date +%s) >/dev/null && echo ESCAPED",
    "host_name": 'hostname "$(hostname)" && echo ESCAPED',
    "capabilities": "grep -q 'CapEff:.*[1-9a-f]' /proc/self/status && echo ESCAPED",
    "new_privileges": "grep -q 'NoNewPrivs:.*0' /proc/self/status && echo ESCAPED",
}
NETWORK = {
    "tcp": "cat </dev/tcp/127.0.0.1/{tcp}",
    "udp": "echo x >/dev/udp/127.0.0.1/{udp}; sleep 0.1",
    "any_address": "cat </dev/tcp/0.0.0.0/{tcp}",
    "abstract_socket": python(
        "import socket\n"
        "s = socket.socket(socket.AF_UNIX); s.connect('\\0{abstract}'); print(s.recv(100))"
    ),
    "local_socket": python(
        "import socket\ns = socket.socket(socket.AF_UNIX); s.connect('{path}'); print(s.recv(100))"
    ),
    "raw_socket": python(
        "import socket\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, 1)\nprint('ESCAPED')"
    ),
    "packet_socket": python(
        "import socket\nsocket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x300)\nprint('ESCAPED')"
    ),
    # Only where loopback is shut already: no packet may leave this machine.
    "metadata": (
        "cat </dev/tcp/127.0.0.1/{tcp} || "
        "timeout 2 bash -c 'exec 3<>/dev/tcp/169.254.169.254/80' && echo ESCAPED"
    ),
}
# Landlock knows no right to change modes, times or owners: docs/sandbox.md says so.
OPEN = {"landlock": {"mode", "times", "owner"}}


def filled(command: str, grounds: Grounds, victim: int, servers: Servers | None = None) -> str:
    words = {
        "top": grounds.top,
        "other": grounds.other,
        "data": grounds.data,
        "settings": grounds.settings,
        "victim": victim,
        "node": os.getpid(),
    }
    if servers is not None:
        words |= {
            "tcp": servers.tcp,
            "udp": servers.udp,
            "abstract": servers.abstract,
            "path": servers.path,
        }
    return command.format(**words)


@pytest.mark.req("K-10", "C-27")
@pytest.mark.fault("F17")
@pytest.mark.fault("F73")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", [*READING, *WRITING, *POWERS])
async def test_a_command_gets_nothing_from_outside_its_workspace(
    backend: str, name: str, grounds: Grounds, victim: "subprocess.Popen[bytes]"
) -> None:
    confined = sandbox(backend, grounds)
    if name in OPEN.get(backend, ()):
        pytest.skip(f"{backend} has no means against it")
    before = grounds.outside()
    command = filled({**READING, **WRITING, **POWERS}[name], grounds, victim.pid)
    result = await ran(command, grounds, confined)
    assert SECRET not in result.output
    assert "ESCAPED" not in result.output.replace("&& echo ESCAPED", "")
    assert grounds.outside() == before
    assert victim.poll() is None


@pytest.mark.fault("F20")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", NETWORK)
async def test_a_command_reaches_no_network_unless_it_was_given(
    backend: str, name: str, grounds: Grounds, servers: Servers
) -> None:
    confined = sandbox(backend, grounds)
    result = await ran(filled(NETWORK[name], grounds, os.getpid(), servers), grounds, confined)
    assert SECRET not in result.output
    assert "ESCAPED" not in result.output
    assert servers.reached == []


@pytest.mark.parametrize("name", ["other_workspace", "own_root", "environment", "new_file", "mode"])
async def test_the_same_commands_get_out_where_nothing_confines_them(
    name: str, grounds: Grounds, victim: "subprocess.Popen[bytes]"
) -> None:
    before = grounds.outside()
    command = filled({**READING, **WRITING}[name], grounds, victim.pid)
    result = await ran(command, grounds, None)
    assert SECRET in result.output or "ESCAPED" in result.output
    assert name in READING or grounds.outside() != before


@pytest.mark.parametrize("name", ["tcp", "udp", "abstract_socket", "local_socket"])
async def test_the_same_servers_are_reached_where_nothing_confines_a_command(
    name: str, grounds: Grounds, servers: Servers
) -> None:
    await ran(filled(NETWORK[name], grounds, os.getpid(), servers), grounds, None)
    async with asyncio.timeout(30):
        while not servers.reached:
            await asyncio.sleep(0.01)
    assert servers.reached == [name.partition("_")[0].replace("local", "path")]


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_command_sees_no_secret_of_the_nodes_environment(
    backend: str, grounds: Grounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_API_KEY", SECRET)
    monkeypatch.setenv("REDSHANK_VAULT__KEY", SECRET)
    command = "env; for each in 1 $PPID self; do tr '\\0' '\\n' </proc/$each/environ; done"
    result = await ran(command, grounds, sandbox(backend, grounds))
    assert "PATH=" in result.output
    assert SECRET not in result.output


@pytest.mark.fault("F11")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "command",
    [
        "setsid sleep {mark} & disown; echo up",
        "(setsid bash -c 'trap \"\" TERM HUP; sleep {mark}; true' &) ; echo up",
        "nohup sleep {mark} >/dev/null 2>&1 & echo up",
    ],
)
async def test_what_a_command_leaves_running_ends_with_it(
    backend: str, command: str, grounds: Grounds
) -> None:
    mark = f"30{os.getpid()}.{int(grounds.top.stat().st_mtime_ns % 10**6)}"
    result = await ran(command.format(mark=mark), grounds, sandbox(backend, grounds))
    assert "up" in result.output
    alive = [
        line
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline")
        if mark.encode() in (line := _bytes(path))
    ]
    assert alive == []


def _bytes(path: pathlib.Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_confined_command_hears_that_its_time_is_over(
    backend: str, grounds: Grounds
) -> None:
    command = "trap 'echo heard; exit 3' TERM; while :; do sleep 0.05; done"
    result = await ran(command, grounds, sandbox(backend, grounds), timeout=3)
    assert result.outcome == "timeout"
    assert "heard" in result.output


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_confined_command_has_a_home_that_it_may_write(
    backend: str, grounds: Grounds
) -> None:
    command = 'touch "$HOME/x" "${TMPDIR:-/tmp}/y" /dev/null && f() { cat; } && f < <(pwd)'
    result = await ran(command, grounds, sandbox(backend, grounds))
    assert result.output == f"{grounds.workspace}\n"


@pytest.mark.parametrize("backend", BACKENDS)
async def test_the_usual_tools_work_confined(backend: str, grounds: Grounds) -> None:
    command = (
        "git init -q r && git -C r status | head -1; "
        "/usr/bin/python3 -c 'import ssl, socket, multiprocessing; print(1)'; "
        "printf 'b\\na\\n' | sort | tee /dev/stderr | head -1 2>&1; getent passwd root"
    )
    result = await ran(command, grounds, sandbox(backend, grounds))
    lines = result.output.splitlines()
    assert {"1", "a"} < set(lines)
    assert any(line.startswith("On branch ") for line in lines)
    assert any(line.startswith("root:x:0") for line in lines)


@pytest.mark.parametrize(
    "command",
    [
        "cat share/node/data/vault.key share/node/redshank.toml",
        "mv share/node/data share/node/moved; cat share/node/moved/vault.key",
        "mv share/node share/moved; cat share/moved/data/vault.key",
        "mv share moved; cat moved/node/data/vault.key",
        "mkdir -p new; mv -T share new; cat new/node/data/vault.key",
        "ln share/node/redshank.toml known; cat known",
        "mv share/node/redshank.toml known; cat known",
        "rm -rf share/node/data; echo x >share/node/redshank.toml",
        "umount share/node/data; cat share/node/data/vault.key",
        "cp -r share copied; cat copied/node/data/vault.key copied/node/redshank.toml",
        "tar cf - share | tr -d '\\0'",
        "cat /workspace/share/node/data/vault.key",
    ],
)
async def test_what_lies_covered_in_the_workspace_stays_so_over_many_commands(
    command: str, grounds: Grounds
) -> None:
    node = grounds.workspace / "share" / "node"
    (node / "data").mkdir(parents=True)
    (node / "data" / "vault.key").write_text(SECRET)
    (node / "redshank.toml").write_text(SECRET)
    covered = (node / "data", node / "redshank.toml")
    for attempt in (command, f"{command}; grep -r {SECRET} .", f"grep -r {SECRET} ."):
        result = await ran(attempt, grounds, sandbox("bwrap", grounds, covered=covered))
        assert SECRET not in result.output.replace(f"grep -r {SECRET}", "")
    assert (node / "data" / "vault.key").read_text() == SECRET
    assert (node / "redshank.toml").read_text() == SECRET
