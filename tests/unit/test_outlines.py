"""Sections of Markdown, XML, HTML: where they begin, what they are called."""

import time
from collections.abc import Sequence

import pytest

from redshank_node.tools.support.outlines.outline import (
    LARGE_TOKENS,
    Extractor,
    described,
    estimated_tokens,
    outlined,
    section_text,
    sections_in,
)
from redshank_node.tools.support.outlines.section import Mark


def found(name: str, text: str) -> list[tuple[str, str, int, int, str]]:
    return [
        (section.id, section.label, section.line, section.lines, section.type)
        for section in sections_in(name, text)
    ]


@pytest.mark.req("C-20", "C-21")
def test_markdown_headings_have_their_type_and_the_lines_up_to_the_next() -> None:
    text = "# Top\nwords\n\n## Below `it` ##\nmore\n# Last\n"
    assert found("notes.md", text) == [
        ("top", "Top", 1, 3, "h1"),
        ("below-it", "Below `it`", 4, 2, "h2"),
        ("last", "Last", 6, 1, "h1"),
    ]


@pytest.mark.req("C-21")
@pytest.mark.parametrize(
    ("heading", "label", "section_id"),
    [
        ("# See [the guide](https://example.com/a_(b))", "See the guide", "see-the-guide"),
        ("# [One][two] more", "One more", "one-more"),
        ("# ![Logo](logo.png) Name", "Logo Name", "logo-name"),
        ("#  C# ", "C#", "c"),
        ("# Größe", "Größe", "gr-e"),
        ("# ###", "", "section"),
        ("# !!!", "!!!", "section"),
        ("   ### Three in", "Three in", "three-in"),
    ],
)
def test_an_id_is_made_of_the_label_without_what_a_link_leads_to(
    heading: str, label: str, section_id: str
) -> None:
    assert [(one[1], one[0]) for one in found("a.md", heading)] == [(label, section_id)]


@pytest.mark.req("C-21")
def test_a_second_section_of_the_same_name_gets_a_number() -> None:
    text = "# Same\n# Same\n# Same-2\n# Same\n"
    assert [one[0] for one in found("a.md", text)] == ["same", "same-2", "same-2-2", "same-3"]


@pytest.mark.req("C-21")
@pytest.mark.parametrize(
    "text",
    [
        "```\n# no\n```\n# yes\n",
        "~~~~ sh\n# no\n~~~\n# no\n~~~~\n# yes\n",
        "```\n# no\n``` not the end\n# no\n```\n# yes\n",
        "    # no\n# yes\n",
        "#no\n# yes\n",
        "####### no\n# yes\n",
        "---\n# no\n---\n# yes\n",
        "``` a`b\n# yes\n",
    ],
)
def test_code_front_matter_no_headings_are_passed_over(text: str) -> None:
    assert [one[1] for one in found("a.md", text)] == ["yes"]


@pytest.mark.req("C-21")
def test_underlined_headings_count_only_where_none_has_a_mark() -> None:
    text = "Top\n===\nwords\n\nBelow\n---\n- item\n---\n\n---\n"
    assert [(one[1], one[2], one[4]) for one in found("a.md", text)] == [
        ("Top", 1, "h1"),
        ("Below", 5, "h2"),
    ]
    assert [one[1] for one in found("a.md", text + "# Marked\n")] == ["Marked"]


@pytest.mark.req("C-21")
def test_a_markdown_section_holds_its_children_up_to_its_own_level() -> None:
    text = "# A\na\n## B\nb\n### C\nc\n## D\nd\n# E\ne\n"
    sections = {section.id: section for section in sections_in("a.md", text)}
    assert section_text(text, sections["a"]) == "# A\na\n## B\nb\n### C\nc\n## D\nd"
    assert section_text(text, sections["b"]) == "## B\nb\n### C\nc"
    assert section_text(text, sections["e"]) == "# E\ne"


@pytest.mark.req("C-20")
def test_tags_with_an_id_or_a_name_are_the_sections_of_markup() -> None:
    text = (
        '<html>\n<Div class="x" id="A b">\n<p name=x>\n<!-- <p id=no> -->\n<a\n id="q&amp;r" '
        "name='z'>\n<script>'<p id=no>'</script>\n<![CDATA[<p id=no>]]><i id=>\n"
    )
    assert found("page.html", text) == [
        ("div-a-b", "Div#A b", 2, 1, "Div"),
        ("p-x", "p#x", 3, 2, "p"),
        ("a-q-r", "a#q&r", 5, 4, "a"),
    ]
    assert [one[1] for one in found("x.xml", '<Item id="1"/><item name="2"/>')] == [
        "Item#1",
        "item#2",
    ]


@pytest.mark.parametrize(
    "piece", ["<a ", "<", "<!--", "<a id=x", "</a ", "<a id=", "<a x='", "<script></script>"]
)
def test_hostile_markup_takes_no_longer_than_any_other(piece: str) -> None:
    text = piece * (262144 // len(piece))
    begin = time.process_time()
    sections_in("x.html", text)
    assert time.process_time() - begin < 3


@pytest.mark.parametrize("text", ["# a\n" * 60_000, "# " + "[a](" * 60_000, "# " + " " * 200_000])
def test_hostile_headings_take_no_longer_than_any_other(text: str) -> None:
    begin = time.process_time()
    sections_in("x.md", text)
    assert time.process_time() - begin < 3


@pytest.mark.req("C-19")
def test_tokens_are_a_third_of_the_characters_and_an_outline_begins_above_two_thousand() -> None:
    assert [estimated_tokens(text) for text in ("", "a", "abc", "abcd")] == [0, 1, 1, 2]
    fits = "# A\n" + "x" * (3 * LARGE_TOKENS - 4)
    assert outlined("a.md", fits) == ()
    assert [section.id for section in outlined("a.md", fits + "x")] == ["a"]
    assert outlined("a.txt", fits + "x") == ()
    assert described("a.md", fits + "x", outlined("a.md", fits + "x")) == {
        "path": "a.md",
        "lines": 2,
        "estTokens": 2001,
        "sections": [{"id": "a", "label": "A", "line": 1, "lines": 2, "type": "h1"}],
    }


def failing(lines: list[str]) -> Sequence[Mark]:
    raise ValueError(lines)


@pytest.mark.req("C-20")
def test_the_higher_priority_is_asked_first_and_a_failing_one_passed_over() -> None:
    extractors = (
        Extractor("*.md", lambda lines: [Mark("low", 1, "x")]),
        Extractor("a.md", lambda lines: [Mark("high", 1, "x")], priority=5),
        Extractor("b.md", failing, priority=5),
    )
    assert [section.id for section in sections_in("x/a.md", "t", extractors)] == ["high"]
    assert [section.id for section in sections_in("b.md", "t", extractors)] == ["low"]
