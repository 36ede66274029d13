"""What a tool says names the tools and arguments that its profile has, under their names there."""

import pathlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from redshank_node.engine.profiles_in_force import toolsets_of
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.support.shown_names import paths_of
from redshank_node.tools.tool import BadArguments, Tool, Workspace
from redshank_node.tools.toolbox import Toolbox
from redshank_shared.profiles.profile import known_profiles, load
from tests.contract.tools.test_reading_profiles import SETTINGS, called, root

__all__ = ["root"]
# A word of its own too, as a value of another argument.
PLAIN = {"append"}


def toolbox_of(root: pathlib.Path, profile: str) -> Toolbox:
    made = toolsets_of(SETTINGS, BUILTIN, Workspace(root))
    return made.toolset(load(profile), "interactive").toolbox


def words_of(tool: Tool) -> Iterator[str]:
    yield tool.description
    yield from descriptions(tool.parameters)


def descriptions(schema: Mapping[str, Any]) -> Iterator[str]:
    for inner in schema.get("properties", {}).values():
        yield inner.get("description", "")
        yield from descriptions(inner)
        yield from descriptions(inner.get("items", {}))


@pytest.mark.parametrize("profile", known_profiles())
def test_descriptions_name_other_tools_as_the_profile_does(
    profile: str, root: pathlib.Path
) -> None:
    elsewhere = {card.canonical for card in load(profile).tools if card.canonical != card.name}
    elsewhere = {name for name in elsewhere if "_" in name}

    for tool in toolbox_of(root, profile).tools:
        said = set(re.findall(r"[\w-]+", " ".join(words_of(tool))))
        assert said & elsewhere == set(), tool.name


@pytest.mark.parametrize("profile", known_profiles())
def test_descriptions_name_no_argument_that_the_profile_hides(
    profile: str, root: pathlib.Path
) -> None:
    exposures = load(profile).exposures
    for tool in toolbox_of(root, profile).tools:
        card = next(card for card in load(profile).tools if card.canonical == tool.name)
        shown = {path.rpartition(".")[2] for path in paths_of(tool.parameters)}
        hidden = set(exposures[card.name].without if card.name in exposures else ())
        said = set(re.findall(r"[\w-]+", tool.description))
        assert said & (hidden - shown - PLAIN) == set(), tool.name


@pytest.mark.req("C-6")
async def test_refusals_name_other_tools_as_the_profile_does(root: pathlib.Path) -> None:
    missing = await called(root, "cireilclaw", "read", path="none.md")
    closed = await called(root, "cireilclaw", "read-sections", path="a.md", all=True)
    edits = [{"oldText": "a", "newText": "b"}]
    with pytest.raises(BadArguments, match="; write makes a new file"):
        await called(root, "cireilclaw", "edit", path="none.md", edits=edits)

    assert missing.output == "path: 'none.md' does not exist; list-dir shows what does"
    assert closed.output.endswith("open it with open-file first")
    elsewhere = await called(root, "kheish", "read_file", path="none.md")
    assert elsewhere.output.endswith("; list_files shows what does")
    without = await called(root, "turnstone", "read_file", path="none.md")
    assert without.output.endswith("; bash shows what does")


async def test_the_name_of_a_file_stays_as_it_is(root: pathlib.Path) -> None:
    missing = await called(root, "cireilclaw", "read", path="list_files")
    assert missing.output == "path: 'list_files' does not exist; list-dir shows what does"
