"""What stays pinned, folded from the facts of a workstream."""

import json

import pytest

from redshank_shared.domain.pin_events import FilePinned, FileUnpinned
from redshank_shared.domain.pins import Pin, Pins, repinned, rewritten, told
from redshank_shared.domain.seen_files import SeenFile

PINNED = Pins({"docs/a.md": Pin(("one", "two")), "b.md": Pin(("three",), whole=False)})


@pytest.mark.req("C-22")
def test_a_pin_replaces_what_was_said_of_the_same_file_before() -> None:
    pins = repinned(repinned(Pins(), FilePinned("a.md", ("one",))), FilePinned("b.md"))
    pins = repinned(pins, FilePinned("a.md", (), whole=True))
    assert pins == Pins({"a.md": Pin((), whole=True), "b.md": Pin()})


@pytest.mark.req("C-24")
def test_a_file_that_vanished_is_remembered_until_the_model_has_been_told() -> None:
    pins = repinned(PINNED, FileUnpinned("b.md", gone=True))
    assert (list(pins.files), pins.gone) == (["docs/a.md"], ("b.md",))
    assert told(pins).gone == ()
    assert repinned(PINNED, FileUnpinned("b.md")).gone == ()
    assert repinned(pins, FilePinned("b.md")).gone == ()


@pytest.mark.req("C-24")
@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "docs/a.md", "content": "x"},
        {"path": "./docs/../docs/a.md"},
        {"path": "/srv/reeds/docs/a.md"},
        {"patch": "*** Begin Patch\n*** Update File: docs/a.md\n@@\n-x\n+y\n*** End Patch"},
        {"patch": "--- a/docs/a.md\n+++ b/docs/a.md\n@@ -1 +1 @@\n-x\n+y\n"},
    ],
)
def test_a_write_resets_the_sections_of_the_file_that_it_names(arguments: dict[str, str]) -> None:
    after = rewritten(PINNED, json.dumps(arguments))
    assert after.files == {"docs/a.md": Pin(), "b.md": Pin(("three",))}


@pytest.mark.req("C-24", "C-25")
def test_a_write_that_says_what_it_wrote_resets_no_file_of_another_root() -> None:
    asked = json.dumps({"path": "/memories/docs/a.md", "content": "x"})
    written = (SeenFile("/memories/docs/a.md", "digest"),)
    pins = repinned(PINNED, FilePinned("/memories/docs/a.md", ("four",)))
    after = rewritten(pins, asked, written)
    assert after.files == {**PINNED.files, "/memories/docs/a.md": Pin()}


@pytest.mark.parametrize("arguments", ['{"path":"other.md"}', "{", "[]", '{"path":3}', ""])
def test_other_writes_leave_the_pins_as_they_are(arguments: str) -> None:
    assert rewritten(PINNED, arguments).files == PINNED.files
