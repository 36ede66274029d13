"""Patches: read in two forms, placed by their context."""

import difflib
import re

import hypothesis
import pytest
from hypothesis import strategies as some

from redshank_node.tools.support.patches.placing import patched
from redshank_node.tools.support.patches.syntax import parsed
from redshank_node.tools.tool import BadArguments

WORDS = some.sampled_from(["a", "b", "  c", "d = 1", "", "x y", "-", "+e", "@@ f"])
UNHURRIED = hypothesis.settings(deadline=None)
LINES = some.lists(WORDS, max_size=14)


def unified(before: list[str], after: list[str], shift: int) -> str:
    """The diff of these lines, its hunks said to be so many lines further down."""
    lines = list(difflib.unified_diff(before, after, "a/n.txt", "b/n.txt", lineterm=""))
    return "\n".join(
        re.sub(r"^@@ -(\d+)", lambda found: f"@@ -{int(found[1]) + shift}", line) for line in lines
    )


def outcome(text: str, patch: str) -> tuple[str | None, str]:
    """The text after the patch, or what was said against it."""
    (file,) = parsed(patch)
    try:
        return patched(text, file.hunks), ""
    except BadArguments as refused:
        return None, str(refused)


def text_of(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@pytest.mark.req("K-12")
@pytest.mark.fault("F16")
@UNHURRIED
@hypothesis.given(before=LINES, after=LINES, shift=some.sampled_from([0, 3, 40]))
def test_a_diff_leads_from_one_text_to_the_other_or_is_refused(
    before: list[str], after: list[str], shift: int
) -> None:
    hypothesis.assume(before != after and before and after)
    made, refusal = outcome(text_of(before), unified(before, after, shift))
    # A text of few words has many places that are alike: then the numbers must be right.
    if not shift:
        assert made == text_of(after)
    elif made is None:
        assert re.search(r"matches \d+ places|is not in the file", refusal)


@pytest.mark.req("K-12")
@UNHURRIED
@hypothesis.given(numbers=some.lists(some.integers(0, 40), max_size=20, unique=True))
def test_where_each_line_is_its_own_wrong_numbers_do_not_matter(numbers: list[int]) -> None:
    before = [f"line {number}" for number in range(41)]
    after = [line for number, line in enumerate(before) if number not in numbers]
    hypothesis.assume(numbers and after)
    (file,) = parsed(unified(before, after, 1000))
    assert patched(text_of(before), file.hunks) == text_of(after)


@pytest.mark.req("K-12")
@pytest.mark.fault("F33")
@UNHURRIED
@hypothesis.given(text=some.text(alphabet="ab \t\r\n", max_size=30))
def test_lines_that_a_patch_does_not_name_keep_every_byte(text: str) -> None:
    before = f"{text}\nhere\n{text}"
    hypothesis.assume("\r\r" not in before)
    (file,) = parsed("*** Begin Patch\n*** Update File: n\n@@\n-here\n+there\n*** End Patch")
    after = patched(before, file.hunks)
    assert after == before.replace("here", "there") or after == f"{text}\nthere\r\n{text}"


@pytest.mark.req("K-12")
@pytest.mark.parametrize(
    ("patch", "says"),
    [
        ("", "patch: it is no patch"),
        ("*** Begin Patch\n", "patch, line 1: it must end with *** End Patch"),
        ("*** Begin Patch\nhello\n*** End Patch", "patch, line 2: 'hello' begins no file"),
        (
            "*** Begin Patch\n*** Update File: \n@@\n-a\n*** End Patch",
            "patch, line 2: *** Update File: names no path",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n*** End Patch",
            "patch, line 3: a has no hunk",
        ),
        (
            "*** Begin Patch\n*** Update File: a\n@@\n a\n*** End Patch",
            "patch, line 5: hunk 1 of a changes nothing",
        ),
        (
            "*** Begin Patch\n*** Delete File: a\n-x\n*** End Patch",
            "patch, line 3: nothing may follow",
        ),
        (
            "*** Begin Patch\n*** Delete File: a\n*** Add File: a\n+x\n*** End Patch",
            "patch: a is named twice",
        ),
        ("--- a/a\n+++ b/a\n", "patch, line 2: a has no hunk"),
        ("--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\nb\n", "patch, line 5: 'b' must begin with"),
        ("--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n a\n+b\n", "a new file has one hunk of + lines"),
        ("diff --git a/a b/a\nhello\n", "patch, line 2: 'hello' is not expected here"),
        ("diff --git a/a b/a\nindex 1..2\n", "is followed by nothing that changes"),
        ("diff --git a/a b/a\nnew file mode 120000\n", "mode 120000 is of no plain file"),
        ("diff --git a/a b/b\ncopy from a\ncopy to b\n", "it copies a file"),
        ("diff --git a/a b/a\nGIT binary patch\n", "patch, line 2: it changes what is no text"),
        ("diff --cc a\n--- a/a\n+++ b/a\n@@@ -1 -1 +1 @@@\n- a\n", "of several parents"),
        ("--- a/a\n+++ b/a\n@@@ -1 -1 +1 @@@\n- a\n", "is no hunk's head"),
        ('--- "a/\\377"\n+++ "b/\\377"\n@@\n-a\n', "is no path in UTF-8"),
    ],
)
def test_a_malformed_patch_is_answered_with_its_line_and_the_mend(patch: str, says: str) -> None:
    with pytest.raises(BadArguments) as refused:
        parsed(patch)
    assert says in str(refused.value)


@pytest.mark.req("K-12")
@pytest.mark.parametrize(
    ("text", "hunks", "after"),
    [
        ("a\n", "@@\n+b", "a\nb\n"),
        ("a\nb\nc\n", "@@ a\n+x", "a\nx\nb\nc\n"),
        ("", "@@\n+x", "x\n"),
        (
            "class A:\n  def f():\n    1\nclass B:\n  def f():\n    1\n",
            "@@ class B:\n@@   def f():\n-    1\n+    2",
            "class A:\n  def f():\n    1\nclass B:\n  def f():\n    2\n",
        ),
        ("a\nb\n\nc\n", "@@\n b\n\n-c\n+d", "a\nb\n\nd\n"),
        ("x\na\nx\na\n", "@@\n-x\n+1\n a\n@@\n-x\n+2\n a", None),
        ("a\nb\n", "@@\n-b\n+c\n@@\n-a\n+d", "d\nc\n"),
    ],
)
def test_hunks_are_placed_by_anchors_order_and_context(
    text: str, hunks: str, after: str | None
) -> None:
    (file,) = parsed(f"*** Begin Patch\n*** Update File: n\n{hunks}\n*** End Patch")
    if after is None:
        with pytest.raises(BadArguments, match="hunk 1 of n matches 2 places, at lines 1, 3"):
            patched(text, file.hunks)
    else:
        assert patched(text, file.hunks) == after


@pytest.mark.req("K-12")
def test_lines_that_come_amid_another_hunk_are_refused() -> None:
    (file,) = parsed("--- n\n+++ n\n@@ -1,3 +1,2 @@\n-a\n-b\n+B\n c\n@@ -1,0 +2,1 @@\n+x\n")
    with pytest.raises(BadArguments, match="hunk 2 of n and another overlap at line 2"):
        patched("a\nb\nc\n", file.hunks)
