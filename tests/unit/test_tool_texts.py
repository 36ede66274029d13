"""Texts: encodings, matching, diffs, globs."""

import pytest

from redshank_node.tools.support.edits.engine import located_edits
from redshank_node.tools.support.edits.spans import Edit, replaced
from redshank_node.tools.support.files.diffs import difference
from redshank_node.tools.support.files.textfiles import (
    NotText,
    decoded,
    encoded,
    newline_of,
    with_newlines,
)
from redshank_node.tools.support.search.globs import glob_match
from redshank_node.tools.tool import BadArguments


@pytest.mark.fault("F33")
@pytest.mark.parametrize(
    ("data", "text", "name"),
    [
        (b"caf\xc3\xa9\r\n", "caf\u00e9\r\n", "UTF-8"),
        (b"\xef\xbb\xbfa\n", "a\n", "UTF-8 with byte order mark"),
        (b"\xff\xfea\x00\n\x00", "a\n", "UTF-16-LE with byte order mark"),
        (b"\xfe\xff\x00a\x00\n", "a\n", "UTF-16-BE with byte order mark"),
        (b"caf\xe9\n", "caf\u00e9\n", "Latin-1"),
        (b"", "", "UTF-8"),
    ],
)
def test_an_encoding_is_detected_and_every_byte_comes_back(
    data: bytes, text: str, name: str
) -> None:
    file = decoded(data)
    assert (file.text, file.encoding.name) == (text, name)
    assert encoded(file.text, file.encoding) == data


@pytest.mark.fault("F15")
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"a\x00b", "binary file"),
        (b"\x89PNG\r\n\x1a\n1234", "PNG image"),
        (b"RIFF1234WEBPVP8 ", "WebP image"),
        (b"%PDF-1.7\n", "PDF document"),
        (b"PK\x03\x04abc", "ZIP archive"),
        (b"\x7fELF\x02", "ELF program"),
        (b"\xff\xfea", "damaged UTF-16-LE with byte order mark text"),
    ],
)
def test_what_is_no_text_is_told_by_its_kind(data: bytes, kind: str) -> None:
    with pytest.raises(NotText) as told:
        decoded(data)
    assert told.value.kind == kind


def test_the_line_end_of_most_lines_is_the_files_own() -> None:
    assert newline_of("a\r\nb\r\nc\n") == "\r\n"
    assert newline_of("a\nb\r\n") == "\n"
    assert with_newlines("a\nb\r\n", "\r\n") == "a\r\nb\r\n"
    assert with_newlines("a\nb\r\n", "\n") == "a\nb\r\n"


@pytest.mark.fault("F16")
@pytest.mark.req("T-25")
@pytest.mark.parametrize(
    ("text", "edit", "after"),
    [
        ("a\r\nb\r\nc\r\n", Edit("o", "a\nb", "a\n2"), "a\r\n2\r\nc\r\n"),
        ("a\r\nb\nc\r\nd\n", Edit("o", "c", "C"), "a\r\nb\nC\r\nd\n"),
        ("x\r\n", Edit("o", "x\n", "x\ny\n"), "x\r\ny\r\n"),
        ("x\n", Edit("o", "x\r\n", "y\n"), "y\n"),
        ("a  \nb", Edit("o", "a  \nb", "c"), "c"),
        ("v\n1\nv\n", Edit("o", "v", "w", near_line=3), "v\n1\nw\n"),
        ("aaa", Edit("o", "aa", "b", replace_all=True), "ba"),
        ("f\x0c\nv\n\u2028\nv\n", Edit("o", "v", "w", near_line=4), "f\x0c\nv\n\u2028\nw\n"),
        ("log(x)", Edit("o", "log(x)", "log($& \\1)"), "log($& \\1)"),
    ],
)
def test_an_exact_match_is_replaced_and_the_rest_is_kept(text: str, edit: Edit, after: str) -> None:
    assert replaced(text, located_edits(text, (edit,))) == after


@pytest.mark.req("T-25")
@pytest.mark.parametrize(
    ("text", "edits", "message"),
    [
        ("a\nb", (Edit("old", "c", "d"),), "old is not in the file; read_file shows"),
        ("a\n", (Edit("old", "     1\ta", "b"),), "leave out the line numbers"),
        ("  a = 1\n", (Edit("old", "a  =  1", "b"),), "line 1 is its first line but for blanks"),
        ("v\n-\nv\n", (Edit("old", "v", "w"),), "old matches 2 places, at lines 1, 3"),
        ("v\n-\nv\n", (Edit("old", "v", "w", near_line=2),), "old matches 2 places"),
        ("aaa", (Edit("old", "aa", "b"),), "old matches 2 places, at lines 1, 1"),
        ("a", (Edit("old", "", "b"),), "old must not be empty"),
        ("a", (Edit("old", "a", "a"),), "nothing would change"),
        (
            "one two three",
            (Edit("e0", "one two", "1"), Edit("e1", "two three", "2")),
            "e0 and e1 overlap at line 1",
        ),
        ("red", (Edit("e0", "red", "blue"), Edit("e1", "blue", "teal")), "e1 is not in the file"),
    ],
)
def test_an_edit_that_does_not_fit_says_why(
    text: str, edits: tuple[Edit, ...], message: str
) -> None:
    with pytest.raises(BadArguments, match=message.replace("(", r"\(")):
        located_edits(text, edits)


def test_edits_of_a_batch_see_the_text_as_it_was() -> None:
    edits = (Edit("e0", "left", "right"), Edit("e1", "right", "left"))
    assert replaced("left right\n", located_edits("left right\n", edits)) == "right left\n"


def test_a_diff_shows_its_lines_where_they_are_in_the_file() -> None:
    before = "".join(f"{number}\n" for number in range(1, 101))
    change = difference(before, before.replace("50\n", "fifty\n"), "n.txt")
    assert (change.added, change.removed) == (1, 1)
    assert change.body.split("\n") == [
        "--- n.txt",
        "+++ n.txt",
        "@@ -47,7 +47,7 @@",
        " 47",
        " 48",
        " 49",
        "-50",
        "+fifty",
        " 51",
        " 52",
        " 53",
    ]


@pytest.mark.timeout(60)
def test_a_diff_of_large_texts_without_a_common_line_ends_soon() -> None:
    before = "".join(f"a{number}\n" for number in range(50_000))
    after = "".join(f"b{number}\n" for number in range(40_000))
    change = difference(before, after, "n.txt")
    assert (change.added, change.removed) == (40_000, 50_000)
    assert change.body.count("\n") < 2100
    assert "more lines" in change.body


def test_a_diff_counts_lines_that_look_like_its_own_marks() -> None:
    change = difference("", "++ a\n-- b\n", "n.txt")
    assert (change.added, change.removed) == (2, 0)


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "src/a.py", True),
        ("*.py", "src/a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/b/a.py", False),
        ("src/**/*.py", "src/b/c/a.py", True),
        ("src/**/*.py", "src/a.py", True),
        ("**/*.{js,ts}", "x/y.ts", True),
        ("[ab]?.txt", "a1.txt", True),
        ("[!ab]?.txt", "a1.txt", False),
        ("a+(b).txt", "a+(b).txt", True),
        ("**/a*/b", "x/ab/a/b", True),
        ("**/a/**/b", "a/x/y/b", True),
        ("**/a/**/b", "b", False),
        ("src/**", "src/a/b.py", True),
        ("src/**.py", "src/a/b.py", True),
        ("*ab*b", "abab", True),
        ("{a,{b,c}}d", "cd", True),
        ("{src/**/*.py,*.md}", "docs.md", True),
        ("{a,b", "{a,b", True),
        (r"app/\[slug\]/*.tsx", "app/[slug]/page.tsx", True),
        ("[[a]", "[", True),
        ("[a&&b]", "&", True),
        ("[.-0]", "/", False),
    ],
)
def test_globs_match_as_people_expect(pattern: str, path: str, matches: bool) -> None:
    assert glob_match(pattern)(path) is matches


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a*a*a*a*a*a*a*a*b", "a" * 250),
        ("**/a/**/a/**/a/**/a/**/a/**/b", "a/" * 1000 + "c"),
        ("**/*a*/**/*a*/**/*a*/**/b", ("a" * 200 + "/") * 20 + "c"),
    ],
)
def test_a_glob_of_many_stars_is_soon_done_with_a_path(pattern: str, path: str) -> None:
    assert not glob_match(pattern)(path)


@pytest.mark.parametrize("pattern", ["{a,b}" * 9, "{," * 1300 + "}" * 1300, "a**" * 30 + "/b"])
def test_a_glob_that_stands_for_too_many_is_refused(pattern: str) -> None:
    with pytest.raises(BadArguments, match="pattern is no glob pattern .* too many"):
        glob_match(pattern)
