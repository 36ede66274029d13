"""The sandbox of commands: which level, which refusal, what is seen, how it is written down."""

from pathlib import Path

import pytest

from redshank_node.engine.sandboxing import limits_of, own_files
from redshank_node.tools.support.sandbox.bubblewrap import Bubblewrap
from redshank_node.tools.support.sandbox.landlock import Landlock
from redshank_node.tools.support.sandbox.limits import ProcessLimits, limited
from redshank_node.tools.support.sandbox.probe import given_here
from redshank_node.tools.support.sandbox.sandbox import Given, Sandbox
from redshank_node.tools.support.sandbox.syscalls import filter_of, knows
from redshank_node.tools.support.sandbox.view import View, split_folders
from redshank_node.tools.tool import BadArguments, SandboxLevel
from redshank_shared.settings.load import load
from redshank_shared.settings.sections import Sandbox as Set

MISSING = Given("missing", None, "bubblewrap: no permissions; Landlock: version 0")
CHOSEN = Given("none", None, "the operator chose it")
CONFINING = Given("bwrap", Bubblewrap("bwrap"))


def sandbox(given: Given, root: Path, **levels: SandboxLevel) -> Sandbox:
    return Sandbox(given, View(root), ProcessLimits(), levels)


@pytest.mark.req("K-81")
@pytest.mark.parametrize(
    ("set_to", "need", "most", "level"),
    [
        (None, "workspace_write", "network_enabled", "workspace_write"),
        (None, "read_only", "network_enabled", "read_only"),
        ("network_enabled", "workspace_write", "network_enabled", "network_enabled"),
        ("network_enabled", "workspace_write", "workspace_write", "workspace_write"),
        ("network_enabled", "workspace_write", "read_only", "read_only"),
        ("read_only", "workspace_write", "network_enabled", "read_only"),
        ("workspace_write", "workspace_write", "inherited", "read_only"),
    ],
)
def test_a_command_gets_what_the_operator_says_and_never_more_than_the_limit(
    set_to: SandboxLevel | None,
    need: SandboxLevel,
    most: SandboxLevel,
    level: SandboxLevel,
    tmp_path: Path,
) -> None:
    levels = {} if set_to is None else {"bash": set_to}
    assert sandbox(CONFINING, tmp_path, **levels).level("bash", need, most) == level


@pytest.mark.req("K-81")
@pytest.mark.parametrize(
    ("most", "level"),
    [("network_enabled", "network_enabled"), ("workspace_write", "workspace_write")],
)
def test_a_profile_level_takes_the_place_of_the_operators_below_the_same_limit(
    most: SandboxLevel, level: SandboxLevel, tmp_path: Path
) -> None:
    set_up = sandbox(CONFINING, tmp_path, bash="read_only", exec="read_only")
    given = set_up.giving({"bash": "network_enabled"})

    assert given.level("bash", "workspace_write", most) == level
    assert given.level("exec", "workspace_write", most) == "read_only"
    assert set_up.level("bash", "workspace_write", most) == "read_only"


@pytest.mark.parametrize(
    ("given", "level", "asks", "offered"),
    [
        (CONFINING, "workspace_write", True, True),
        (CONFINING, "workspace_write", False, False),
        (CONFINING, "network_enabled", True, False),
        (CONFINING, "read_only", True, False),
        (CHOSEN, "workspace_write", True, False),
        (MISSING, "workspace_write", True, False),
    ],
)
def test_the_network_is_asked_for_where_that_alone_is_missing(
    given: Given, level: SandboxLevel, asks: bool, offered: bool, tmp_path: Path
) -> None:
    node = Sandbox(given, View(tmp_path), ProcessLimits(), {"bash": level}, ask_network=asks)

    assert node.offers_network("bash", "workspace_write") is offered
    assert node.giving({}).within(()).offers_network("bash", "workspace_write") is offered


def test_a_node_that_cannot_confine_refuses_and_says_what_to_do(tmp_path: Path) -> None:
    bare = sandbox(MISSING, tmp_path)
    refused = bare.refusal("bash", "workspace_write", "network_enabled")
    assert refused.startswith("sandbox: bash needs workspace_write, this node cannot give it: ")
    assert MISSING.reason in refused
    assert 'sandbox.backend = "none"' in refused
    with pytest.raises(BadArguments, match="user namespaces"):
        bare.confining("bash", "workspace_write", "network_enabled")
    assert bare.report() == {
        "backend": "missing",
        "levels": [],
        "reason": MISSING.reason,
        "cgroups": False,
    }


def test_what_runs_no_commands_needs_no_sandbox(tmp_path: Path) -> None:
    bare = sandbox(MISSING, tmp_path)
    assert bare.refusal("read_file", "inherited", "network_enabled") == ""
    assert bare.confining("read_file", "inherited", "network_enabled") is None


def test_commands_run_bare_only_where_the_operator_says_so(tmp_path: Path) -> None:
    chosen = sandbox(CHOSEN, tmp_path)
    assert chosen.refusal("bash", "workspace_write", "network_enabled") == ""
    assert chosen.confining("bash", "workspace_write", "network_enabled") is None
    assert chosen.report()["levels"] == ["inherited"]
    assert given_here("none", View(tmp_path)).backend == "none"


def test_a_command_that_is_confined_keeps_its_words_at_the_end(tmp_path: Path) -> None:
    words = ("bash", "-c", "echo 'a  b'")
    confine = sandbox(CONFINING, tmp_path).confining("bash", "workspace_write", "network_enabled")
    assert confine is not None
    argv = confine(words)
    assert argv[0] == "bwrap"
    assert argv[-3:] == words
    assert ("--bind", str(tmp_path), str(tmp_path)) in list(
        zip(argv, argv[1:], argv[2:], strict=False)
    )
    assert "--share-net" not in argv


@pytest.mark.parametrize(
    ("level", "bind", "network"),
    [
        ("read_only", "--ro-bind", False),
        ("workspace_write", "--bind", False),
        ("network_enabled", "--bind", True),
    ],
)
def test_each_level_is_wider_than_the_one_before(
    level: SandboxLevel, bind: str, network: bool, tmp_path: Path
) -> None:
    argv = Bubblewrap("bwrap").argv(("true",), View(tmp_path), level, ProcessLimits())
    assert argv[argv.index(str(tmp_path)) - 1] == bind
    assert ("--share-net" in argv) is network
    landlock = Landlock(tmp_path / "scratch").argv(
        ("true",), View(tmp_path), level, ProcessLimits()
    )
    assert f"{'r' if level == 'read_only' else 'w'}={tmp_path}" in landlock
    assert ("network" in landlock) is network


def test_no_limit_of_nothing_is_set() -> None:
    limits = ProcessLimits(open_files=10, file_bytes=2048)
    script = limited(("true",), limits, "/tmp", ("/work",))[4]
    assert "ulimit -n 10" in script
    assert "ulimit -f 2" in script
    assert "ulimit -v" not in script


def test_what_is_hidden_is_covered_only_where_it_would_be_seen(tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    (root / "data" / "deep").mkdir(parents=True)
    (root / "redshank.toml").touch()
    (tmp_path / "elsewhere").mkdir()
    hidden = (
        root / "data",
        root / "data" / "deep",
        root / "redshank.toml",
        root / "not_there",
        tmp_path / "elsewhere",
    )
    assert View(root, (), hidden).covered() == [root / "data", root / "redshank.toml"]
    assert View(root, (tmp_path / "elsewhere",), hidden[4:]).covered() == [tmp_path / "elsewhere"]


def test_paths_of_a_setting_stand_between_colons(tmp_path: Path) -> None:
    assert split_folders(f"{tmp_path}/a:: {tmp_path}/b/../c ") == (tmp_path / "a", tmp_path / "c")
    assert split_folders("") == ()


def test_landlock_is_not_offered_where_it_would_show_what_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    given = given_here("landlock", View(tmp_path, (), (tmp_path / "data",)))
    assert given.backend == "missing"
    assert f"it cannot cover {tmp_path / 'data'}" in given.reason


def test_the_nodes_own_files_are_hidden_with_what_the_operator_names(tmp_path: Path) -> None:
    file = tmp_path / "redshank.toml"
    file.write_text(
        f'[vault]\nkey_file = "{tmp_path}/vault.key"\n[ledger]\nkey_file = "{tmp_path}/l.key"\n'
        f'[database]\nurl = "sqlite:///{tmp_path}/my.db"\n'
        f'[sandbox]\nhidden = "{tmp_path}/private"\n'
    )
    hidden = own_files(load(file, {}), {"HOME": "/home/someone"})
    for name in ("redshank.toml", "vault.key", "l.key", "my.db", "my.db-wal", "private"):
        assert tmp_path / name in hidden
    assert Path("/home/someone/.config/redshank") in hidden
    assert Path("/home/someone/.local/share/redshank") in hidden


def test_limits_are_set_in_megabytes_and_counted_in_bytes() -> None:
    limits = limits_of(Set(address_space_mb=2, file_mb=3, scratch_mb=4, processes=5))
    assert limits.address_space_bytes == 2 * 1024 * 1024
    assert limits.file_bytes == 3 * 1024 * 1024
    assert limits.scratch_bytes == 4 * 1024 * 1024
    assert limits.processes == 5


def test_the_filter_of_calls_is_a_program_for_machines_it_knows() -> None:
    assert knows("x86_64")
    assert knows("aarch64")
    assert not knows("sparc")
    for machine in ("x86_64", "aarch64"):
        with_network = filter_of(machine, network=True)
        assert len(with_network) % 8 == 0
        assert filter_of(machine, network=False) != with_network
