"""The edit engine: what changes is what was named, wherever it is found."""

import time

import hypothesis
import pytest
from hypothesis import strategies as some

from redshank_node.tools.support.edits.diff import difference_of
from redshank_node.tools.support.edits.engine import located_edits
from redshank_node.tools.support.edits.indent import reindented
from redshank_node.tools.support.edits.near import LinesAnchor, SymbolAnchor, TextAnchor
from redshank_node.tools.support.edits.spans import Edit, Span, replaced
from redshank_node.tools.support.files.diffs import difference
from redshank_node.tools.tool import BadArguments

PIECES = some.sampled_from(
    ["a", "b", "ab", " ", "\t", "\n", "\r\n", "\r", "é", "\U0001f426", "x=1"]
)
TEXTS = some.lists(PIECES, max_size=40).map("".join)
PLAIN = some.text(alphabet="ab \t\n", max_size=60)
UNHURRIED = hypothesis.settings(deadline=None)


def edited(text: str, *edits: Edit, loosely: bool = True) -> str:
    return replaced(text, located_edits(text, edits, loosely=loosely))


def bare(text: str) -> str:
    """The text without what a loose match passes over, or a line end's form."""
    return "".join(text.split())


@pytest.mark.req("T-25", "C-29", "C-31")
@pytest.mark.fault("F16")
@pytest.mark.fault("F33")
@UNHURRIED
@hypothesis.given(text=TEXTS, start=some.integers(0, 60), length=some.integers(1, 20), new=TEXTS)
def test_an_edit_that_applies_changes_only_the_spans_it_names(
    text: str, start: int, length: int, new: str
) -> None:
    old = text[start : start + length]
    try:
        spans = located_edits(text, (Edit("old", old, new),), loosely=True)
    except BadArguments:
        return
    after = replaced(text, spans)
    assert len(spans) == 1
    (span,) = spans
    assert span.found[0] <= span.start <= span.end <= span.found[1]
    assert after.startswith(text[: span.start])
    assert after.endswith(text[span.end :])
    assert len(after) == span.start + len(span.new) + len(text) - span.end
    assert bare(text[slice(*span.found)]) == bare(old)


@pytest.mark.req("T-25", "C-33")
@UNHURRIED
@hypothesis.given(text=TEXTS, old=TEXTS.filter(bool), new=TEXTS)
def test_replacing_all_leaves_nothing_else_changed(text: str, old: str, new: str) -> None:
    try:
        spans = located_edits(text, (Edit("old", old, new, replace_all=True),))
    except BadArguments:
        return
    kept = [text[one.end : two.start] for one, two in zip(spans, spans[1:], strict=False)]
    assert all(one.found[1] <= two.found[0] for one, two in zip(spans, spans[1:], strict=False))
    ends = [text[: spans[0].start], *kept, text[spans[-1].end :]]
    news = [span.new for span in spans]
    woven = "".join(part + new for part, new in zip(ends, [*news, ""], strict=True))
    assert replaced(text, spans) == woven


@pytest.mark.req("T-25")
@UNHURRIED
@hypothesis.given(before=PLAIN, start=some.integers(0, 60), length=some.integers(0, 9), new=PLAIN)
def test_the_diff_of_spans_is_the_diff_of_the_texts(
    before: str, start: int, length: int, new: str
) -> None:
    start = min(start, len(before))
    end = min(start + length, len(before))
    spans = (Span(start, end, new, (start, end)),)
    after = replaced(before, spans)
    hypothesis.assume(before != after)
    whole, part = difference(before, after, "n"), difference_of(before, spans, "n")
    assert part.added - part.removed == whole.added - whole.removed
    assert (part.added, part.removed) == (whole.added, whole.removed)


@pytest.mark.req("C-30")
@pytest.mark.fault("F16")
@pytest.mark.parametrize(
    ("lines", "pairs", "moved"),
    [
        (["    a", "      b"], [("    ", "  ")], ["  a", "    b"]),
        (["a", "  b"], [("", "    ")], ["    a", "      b"]),
        (["    a", "        b"], [("    ", "\t")], ["\ta", "\t\tb"]),
        (["\ta", "\t\tb"], [("\t", "  ")], ["  a", "    b"]),
        (["  a", "b"], [("  ", "  ")], ["  a", "b"]),
        (["a", "    b"], [("", "    "), ("    ", "    ")], ["    a", "    b"]),
        (["  a"], [("  ", "    "), ("  ", "\t")], ["  a"]),
        (["    a", "", "    b"], [("    ", "  ")], ["  a", "", "  b"]),
        (["  a"], [("    ", "        ")], ["      a"]),
    ],
)
def test_new_lines_get_the_indentation_of_their_place(
    lines: list[str], pairs: list[tuple[str, str]], moved: list[str]
) -> None:
    assert reindented(lines, pairs) == moved


@pytest.mark.req("C-34")
@pytest.mark.parametrize(
    ("edit", "after"),
    [
        (Edit("o", "v", "w", near=(LinesAnchor("n", 20, 30),)), "f1 20"),
        (Edit("o", "v", "w", near=(SymbolAnchor("n", "f2", radius=3),)), "f2 40"),
        (Edit("o", "v", "w", near=(TextAnchor("n", "def  f1"),)), "f1 20"),
        (
            Edit("o", "v", "w", near=(TextAnchor("n", "def f1"), LinesAnchor("n", 1, 25))),
            "f1 20",
        ),
        (
            Edit("o", "v", "w", replace_all=True, near=(LinesAnchor("n", 1, 45),)),
            "f1 20 f2 40",
        ),
    ],
)
def test_an_anchor_says_which_place_is_meant(edit: Edit, after: str) -> None:
    lines = [f"l{number}" for number in range(1, 61)]
    lines[17], lines[19], lines[37], lines[39], lines[59] = "def f1", "v", "def f2", "v", "v"
    text = "\n".join(lines)
    changed = [
        number for number, line in enumerate(edited(text, edit).split("\n"), 1) if line == "w"
    ]
    assert changed == [int(number) for number in after.split()[1::2]]


@pytest.mark.req("C-32")
def test_several_matches_are_shown_with_the_lines_around_them() -> None:
    text = "a\nb\nv\nc\nd\ne\nv\nf\n"
    with pytest.raises(BadArguments) as refused:
        edited(text, Edit("old_string", "v", "w"))
    assert "old_string matches 2 places, at lines 3, 7" in str(refused.value)
    assert "      2\tb\n>     3\tv\n      4\tc" in str(refused.value)


@pytest.mark.req("T-25")
@pytest.mark.fault("F16")
def test_a_text_that_is_not_there_is_answered_with_the_nearest_lines() -> None:
    text = "import os\n\ndef tally(items):\n    return sum(items)\n"
    with pytest.raises(BadArguments) as refused:
        edited(text, Edit("old_string", "def tally(item):", "x"))
    assert "3\tdef tally(items):" in str(refused.value)


@pytest.mark.fault("F16")
def test_loose_matching_of_long_blanks_ends_soon() -> None:
    text = f"{' ' * 200_000}x\n{' ' * 200_000}\n"
    began = time.process_time()
    for old in ("\n a", "a b", " \n\n \n y"):
        with pytest.raises(BadArguments):
            edited(text, Edit("o", old, "z"))
    assert time.process_time() - began < 5


@pytest.mark.fault("F16")
def test_text_that_is_everywhere_is_answered_soon() -> None:
    text = "e = 1\n" * 100_000
    began = time.process_time()
    with pytest.raises(BadArguments, match="matches 100000 places"):
        edited(text, Edit("o", "e", "z"))
    everywhere = (Edit("o", "e", "z", replace_all=True),)
    spans = located_edits(text, everywhere)
    change = difference_of(text, spans, "n")
    assert (change.added, change.removed) == (100_000, 100_000)
    assert time.process_time() - began < 10


@pytest.mark.req("C-37")
def test_nothing_before_the_body_is_looked_at() -> None:
    text = "+++\r\nd = 'tea'\r\n+++\r\ntea\r\n"
    first = text.rindex("tea")
    spans = located_edits(text, (Edit("o", "tea", "milk"),), first=first)
    assert replaced(text, spans) == "+++\r\nd = 'tea'\r\n+++\r\nmilk\r\n"


@pytest.mark.fault("F16")
@pytest.mark.parametrize(
    ("old", "says"),
    [
        ("a\nb\nX\n", "its first line is line 3, then line 5 reads 'c', not 'X'"),
        ("b\nc\nd\n", "its first line is line 4, then line 6 does not exist, not 'd'"),
        ("c\n", "but its last one does not end as the file's does"),
    ],
)
def test_a_text_that_is_nowhere_is_answered_with_where_it_begins_to_differ(
    old: str, says: str
) -> None:
    with pytest.raises(BadArguments) as refused:
        located_edits("a\nz\na\nb\nc", (Edit("old_string", old, "new"),), loosely=True)
    assert says in str(refused.value)


@pytest.mark.fault("F16")
def test_places_that_overlap_but_for_their_blanks_are_several() -> None:
    with pytest.raises(BadArguments, match="matches 2 places, at lines 1, 2"):
        located_edits("x  = 1\n" * 3, (Edit("old_string", "x = 1\nx = 1", "y"),), loosely=True)
