"""The tools that look at files as each profile has them."""

import json
import pathlib

import pytest

from redshank_node.engine.profiles_in_force import toolsets_of
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import BadArguments, CallContext, Result, Workspace
from redshank_shared.profiles.profile import load
from redshank_shared.settings.models import find_models
from redshank_shared.settings.sections import SECTIONS, Settings

SETTINGS = Settings(
    **{name: kind() for name, kind in SECTIONS.items()},  # type: ignore[arg-type]
    models=find_models({}, "test", {}),
    given=frozenset(),
)
LARGE = "# One\n" + "words\n" * 2000


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "a.md").write_text(LARGE)
    (tmp_path / "config").mkdir()
    on = "".join(f"{card.name} = true\n" for card in load("cireilclaw").tools)
    (tmp_path / "config" / "tools.toml").write_text(on)
    return workspace


async def called(root: pathlib.Path, profile: str, name: str, **arguments: object) -> Result:
    workspace = Workspace(root)
    toolset = toolsets_of(SETTINGS, BUILTIN, workspace).toolset(load(profile), "interactive")
    tool = toolset.toolbox.resolve(name)
    assert tool is not None
    return await tool.run(
        tool.prepare(dict(arguments), workspace), CallContext("call", workspace, lambda _: None)
    )


@pytest.mark.req("C-19")
async def test_cireilclaw_reads_outlines_and_the_others_lines(root: pathlib.Path) -> None:
    outlined = await called(root, "cireilclaw", "read", path="a.md")
    assert json.loads(outlined.output)["outline"]["sections"][0]["id"] == "one"
    raw = await called(root, "cireilclaw", "read", path="a.md", raw=True)
    assert raw.output.startswith("     1\t# One\n")
    for profile in ("default", "turnstone", "kheish"):
        lines = await called(root, profile, "read_file", path="a.md")
        assert lines.output.startswith("     1\t# One\n")


@pytest.mark.req("C-18")
async def test_cireilclaw_refuses_what_the_others_read_in_parts(root: pathlib.Path) -> None:
    (root / "large.txt").write_text("x" * 262_145)
    refused = await called(root, "cireilclaw", "read", path="large.txt")
    assert refused.is_error
    assert not (await called(root, "default", "read_file", path="large.txt")).is_error


@pytest.mark.req("C-18", "C-19")
@pytest.mark.parametrize("text", ["x\n" * 131_072, "x" * 262_144, "caf\u00e9 \u20ac\n" * 23_831])
async def test_cireilclaw_shows_all_of_what_it_does_not_refuse(
    text: str, root: pathlib.Path
) -> None:
    (root / "a.txt").write_text(text)
    shown = await called(root, "cireilclaw", "read", path="a.txt")
    lines = [line.partition("\t")[2] for line in shown.output.split("\n")]
    assert not shown.truncated
    assert lines == text.removesuffix("\n").split("\n")


@pytest.mark.req("C-25")
async def test_cireilclaw_lists_names_with_types(root: pathlib.Path) -> None:
    listed = await called(root, "cireilclaw", "list-dir", path=".")
    assert listed.output == "a.md\tfile"


@pytest.mark.req("T-27")
async def test_turnstone_searches_by_its_own_words(root: pathlib.Path) -> None:
    found = await called(root, "turnstone", "search", query="^# O", path=".")
    assert found.output == "a.md:1:# One"


@pytest.mark.req("T-26")
async def test_turnstone_compares_by_its_own_words(root: pathlib.Path) -> None:
    (root / "b.md").write_text(LARGE + "more\n")
    for new_side in ({"path_b": "b.md"}, {"content_b": LARGE + "more\n"}):
        told = await called(root, "turnstone", "diff_file", path_a="a.md", **new_side)
        assert told.output.endswith("\n+more")
    missing = await called(root, "turnstone", "diff_file", path_a="a.md", path_b="c.md")
    assert missing.output.startswith("path_b: 'c.md' does not exist")
    with pytest.raises(BadArguments, match="content_b: give this or path_b"):
        await called(root, "turnstone", "diff_file", path_a="a.md")
