"""The names that an agent has for folders: which of them a path lies in, what stands for it."""

import pathlib

import msgspec
import pytest

from redshank_node.engine.profile_roots import kept_roots, system_roots
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.roots import Root, Roots, is_in, key_of
from redshank_shared.profiles.profile import load, read
from redshank_shared.profiles.root_choice import RootChoice

WORK = pathlib.Path("/srv/reeds/workspace")
MEMORIES = Root("/memories", pathlib.Path("/srv/reeds/memories"), writable=True)
STORE = Root("/nix/store", pathlib.Path("/nix/store"))
ROOTS = Roots(WORK, (MEMORIES, STORE))
EVERY = RootChoice("write", "write", "read", "write", system=True)
PROFILE = 'title = "Reeds"\n[tools]\nread_file = {}\n'


@pytest.mark.req("C-25", "C-27")
@pytest.mark.parametrize(
    ("path", "prefix", "rest"),
    [
        ("a.md", "/workspace", "a.md"),
        ("memories/a.md", "/workspace", "memories/a.md"),
        ("/workspace", "/workspace", ""),
        ("/workspace/memories/a.md", "/workspace", "memories/a.md"),
        ("/memories", "/memories", ""),
        ("//memories/./b//a.md", "/memories", "b/a.md"),
        ("/memories/../workspace/a.md", "/memories", "../workspace/a.md"),
        ("/nix/store/x", "/nix/store", "x"),
        ("/srv/reeds/workspace/a.md", "/workspace", "a.md"),
        ("/srv/reeds/memories/a.md", "/memories", "a.md"),
    ],
)
def test_the_words_of_a_path_say_in_which_root_it_lies(path: str, prefix: str, rest: str) -> None:
    found = ROOTS.holding(path)
    assert found is not None
    assert (found[0].prefix, found[1]) == (prefix, rest)


@pytest.mark.req("C-27")
@pytest.mark.parametrize(
    "path", ["/", "/etc/passwd", "/memories2/a.md", "/../memories/a.md", "/nix", "/srv/reeds"]
)
def test_what_lies_in_no_root_is_nowhere(path: str) -> None:
    assert ROOTS.holding(path) is None


@pytest.mark.req("C-25")
@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("a.md", "a.md"),
        ("./x/../a.md", "a.md"),
        ("/workspace/a.md", "a.md"),
        ("/srv/reeds/workspace/a.md", "a.md"),
        ("/memories/a.md", "/memories/a.md"),
        ("/memories/x/../a.md", "/memories/a.md"),
        ("/memories", "/memories"),
        ("memories/a.md", "memories/a.md"),
    ],
)
def test_no_two_files_of_two_roots_have_one_key(path: str, key: str) -> None:
    assert key_of(ROOTS, path) == key


@pytest.mark.req("C-26")
def test_a_block_is_what_lies_in_the_root_of_blocks() -> None:
    assert is_in("/blocks/person.md", "/blocks")
    assert not any(is_in(key, "/blocks") for key in ("blocks/person.md", "/blocks", "/blocks2/a"))


@pytest.mark.req("C-25")
def test_a_folder_above_roots_holds_their_names() -> None:
    assert ROOTS.children("/") == ["memories", "nix", "workspace"]
    assert ROOTS.children("/nix/") == ["store"]
    assert [ROOTS.children(path) for path in ("/memories", "/nix/store/x", "/var")] == [None] * 3


@pytest.mark.req("C-25")
def test_of_a_root_that_is_shown_in_part_nothing_else_is_there() -> None:
    etc = Root("/etc", pathlib.Path("/etc"), only=("passwd", "ssl/certs"))
    shown = ("passwd", "ssl/certs", "ssl/certs/a.pem")
    assert all(etc.shows(path) for path in shown)
    assert [path for path in (".", "ssl", "shadow", "ssl/private") if etc.leads(path)] == [
        ".",
        "ssl",
    ]
    assert not any(etc.shows(path) for path in (".", "ssl", "shadow", "ssl/private", "passwd-"))


@pytest.mark.req("C-25")
def test_cireilclaw_has_the_folders_of_its_seed_and_no_other_profile_has() -> None:
    assert load("cireilclaw").roots == RootChoice("write", "write", "write", "write", system=True)
    assert all(load(name).roots == RootChoice() for name in ("default", "turnstone", "kheish"))


@pytest.mark.req("C-25")
def test_an_own_profile_says_what_may_be_done_in_each_folder() -> None:
    text = f'{PROFILE}[roots]\nmemories = "write"\nskills = "read"\n'
    assert read("reeds", text).roots == RootChoice("write", "none", "read")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('memory = "write"', "unknown field `memory`"),
        ('memories = "append"', r"'append'.* - at `\$\.roots\.memories`"),
        ('system = "yes"', r"- at `\$\.roots\.system`"),
    ],
)
@pytest.mark.req("C-25")
def test_an_unknown_word_for_folders_is_refused_with_its_field(line: str, said: str) -> None:
    with pytest.raises(Misconfigured, match=said):
        read("reeds", f"{PROFILE}[roots]\n{line}\n")


@pytest.mark.req("C-25")
def test_the_folders_lie_beside_the_workspace_or_where_the_setting_says() -> None:
    beside = kept_roots(EVERY, WORK, "")
    assert [(root.prefix, str(root.folder), root.writable) for root in beside] == [
        ("/memories", "/srv/reeds/memories", True),
        ("/blocks", "/srv/reeds/blocks", True),
        ("/skills", "/srv/reeds/skills", False),
        ("/tasks", "/srv/reeds/tasks", True),
    ]
    moved = kept_roots(RootChoice(memories="write"), WORK, "/var/lib/reeds")
    assert [root.folder for root in moved] == [pathlib.Path("/var/lib/reeds/memories")]
    assert kept_roots(RootChoice(), WORK, "/var/lib/reeds") == ()


@pytest.mark.fault("F73")
@pytest.mark.req("C-27")
def test_no_root_lies_where_an_agent_could_put_a_link_in_its_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for workspace, folder in (("/srv/a", "/srv/a/deep"), ("/srv/memories/a", "/srv")):
        with pytest.raises(Misconfigured, match="overlaps the workspace") as wrong:
            kept_roots(RootChoice(memories="write"), pathlib.Path(workspace), folder)
        assert wrong.value.field == "tools.roots"
    named_so = kept_roots(EVERY, pathlib.Path("/srv/tasks"), "")
    assert [root.prefix for root in named_so] == ["/memories", "/blocks", "/skills"]
    assert "there is no /tasks beside the workspace /srv/tasks" in caplog.text


@pytest.mark.req("C-25")
def test_the_systems_folders_may_be_read_alone() -> None:
    roots = {root.prefix: root for root in system_roots(EVERY)}
    assert "/usr" in roots
    assert not {"/bin", "/home", "/root", "/var", "/proc", "/tmp"} & set(roots)  # noqa: S108
    assert not any(root.writable for root in roots.values())
    assert roots["/etc"].shows("passwd")
    assert not roots["/etc"].shows("shadow")
    assert system_roots(msgspec.structs.replace(EVERY, system=False)) == ()
