"""The story of read_file: an agent reads what people keep in their folders."""

import asyncio
import contextlib
import json
import os
import pathlib
import time

import pytest

from redshank_node.tools.tool import ImagePart
from tests.contract.tools.file_calls import called
from tests.fakes.small_images import whole_png

OUTLINING = {"outline": True, "max_text_bytes": 262144}
DEADLINE_SECONDS = 40.0
INSIDE = "     1\tinside"
PNG = whole_png(40, 30)


@pytest.mark.req("T-22")
async def test_a_person_asks_for_a_function_and_the_agent_reads_just_its_lines(
    tmp_path: pathlib.Path,
) -> None:
    (tmp_path / "app.py").write_text("".join(f"line {n}\n" for n in range(1, 1001)))
    result = await called(tmp_path, "read_file", {"path": "app.py", "offset": 500, "limit": 2})
    assert (
        result.output
        == "   500\tline 500\n   501\tline 501\n[more lines follow; go on with offset=502]"
    )
    rest = await called(tmp_path, "read_file", {"path": "app.py", "offset": 1000})
    assert rest.output == "  1000\tline 1000"
    past = await called(tmp_path, "read_file", {"path": "app.py", "offset": 1001})
    assert "offset: 1001 is past the end of the file, which has 1000 line(s)" in past.output


@pytest.mark.req("T-22")
@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("codec", ["utf-8", "latin-1", "utf-16", "utf-32"])
async def test_the_same_window_comes_out_of_every_encoding(
    codec: str, end: str, tmp_path: pathlib.Path
) -> None:
    lines = [f"caf\u00e9 {n}" for n in range(1, 40_001)]
    (tmp_path / "a.txt").write_bytes(("\n".join(lines) + end).encode(codec))
    result = await called(tmp_path, "read_file", {"path": "a.txt", "offset": 39_999})
    assert result.output == " 39999\tcaf\u00e9 39999\n 40000\tcaf\u00e9 40000"
    past = await called(tmp_path, "read_file", {"path": "a.txt", "offset": 40_002})
    assert "which has 40000 line(s)" in past.output


@pytest.mark.fault("F33")
@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("caf\u00e9 ab".encode("utf-16-le"), "caf\u00e9 ab"),
        ("caf\u00e9 ab".encode("utf-16-be"), "caf\u00e9 ab"),
        (b"x\n" * 40_000 + "caf\u00e9".encode("latin-1"), "caf\u00e9"),
        (b"caf\xe9", "caf\u00e9"),
    ],
)
async def test_text_without_a_mark_is_read_in_the_encoding_that_it_has(
    data: bytes, shown: str, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    offset = data.count(b"x\n") + 1
    result = await called(tmp_path, "read_file", {"path": "a.txt", "offset": offset})
    assert result.output == f"{offset:>6}\t{shown}"


@pytest.mark.req("T-22")
async def test_an_image_is_handed_over_and_described_in_words(tmp_path: pathlib.Path) -> None:
    (tmp_path / "chart.png").write_bytes(PNG)
    result = await called(tmp_path, "read_file", {"path": "chart.png"})
    assert result.output == f"[chart.png is a PNG image of {len(PNG)} bytes, 40 x 30 pixels]"
    assert result.images == (ImagePart("image/png", PNG),)


@pytest.mark.req("T-22")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (PNG[:20], "it is damaged, so it cannot be shown"),
        (PNG[:-1], "it is damaged, so it cannot be shown"),
        (whole_png(9000, 2), "too wide or high"),
    ],
)
async def test_what_no_server_takes_is_described_only(
    body: bytes, words: str, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "a.png").write_bytes(body)
    result = await called(tmp_path, "read_file", {"path": "a.png"})
    assert (result.images, result.is_error) == ((), False)
    assert words in result.output


@pytest.mark.req("T-22")
@pytest.mark.parametrize(("size", "refused"), [(4 << 20, False), ((4 << 20) + 1, True)])
async def test_an_image_over_four_megabytes_is_refused(
    size: int, refused: bool, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "a.png").write_bytes(PNG.ljust(size, b"x"))
    result = await called(tmp_path, "read_file", {"path": "a.png"})
    assert (result.is_error, not result.images) == (refused, refused)


@pytest.mark.req("C-18")
@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize(("size", "refused"), [(262144, False), (262145, True)])
async def test_the_profile_that_asks_for_it_refuses_text_over_256_kib(
    size: int, refused: bool, raw: bool, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "a.md").write_bytes(b"# A\n".ljust(size, b"x"))
    arguments = {"path": "a.md", "raw": raw}
    result = await called(tmp_path, "read_file", arguments, options=OUTLINING)
    assert result.is_error == refused
    assert ("at most 262144" in result.output) == refused
    elsewhere = await called(tmp_path, "read_file", arguments)
    assert not elsewhere.is_error


@pytest.mark.req("C-18")
async def test_images_keep_their_own_limit(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG.ljust(300_000, b"x"))
    result = await called(tmp_path, "read_file", {"path": "a.png"}, options=OUTLINING)
    assert not result.is_error


@pytest.mark.req("C-19")
async def test_a_large_document_is_shown_as_its_outline_unless_raw(
    tmp_path: pathlib.Path,
) -> None:
    text = "# One\n" + "words\n" * 1000 + "# Two\n" + "words\n" * 1000
    (tmp_path / "a.md").write_text(text)
    result = await called(tmp_path, "read_file", {"path": "a.md"}, options=OUTLINING)
    outline = json.loads(result.output)["outline"]
    assert (outline["path"], outline["lines"], outline["estTokens"]) == ("a.md", 2002, 4004)
    assert outline["sections"] == [
        {"id": "one", "label": "One", "line": 1, "lines": 1001, "type": "h1"},
        {"id": "two", "label": "Two", "line": 1002, "lines": 1001, "type": "h1"},
    ]
    for more in ({"raw": True}, {"offset": 1}):
        shown = await called(tmp_path, "read_file", {"path": "a.md", **more}, options=OUTLINING)
        assert shown.output.startswith("     1\t# One\n     2\twords")
    elsewhere = await called(tmp_path, "read_file", {"path": "a.md"})
    assert elsewhere.output.startswith("     1\t# One\n")


@pytest.mark.req("C-19")
async def test_a_large_file_without_sections_is_shown_as_it_is(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.txt").write_text("words\n" * 2000)
    (tmp_path / "a.md").write_text("words\n" * 2000)
    for path in ("a.txt", "a.md"):
        result = await called(tmp_path, "read_file", {"path": path}, options=OUTLINING)
        assert result.output.startswith("     1\twords\n")


@pytest.mark.fault("F21")
@pytest.mark.timeout(60)
async def test_nothing_that_is_no_file_hangs_the_call(tmp_path: pathlib.Path) -> None:
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    with open(tmp_path / "sparse", "wb") as file:
        file.truncate(5 << 30)
    said = {
        path: await called(tmp_path, "read_file", {"path": path})
        for path in ("empty", "pipe", "zero", "folder", "sparse", "/dev/zero")
    }
    assert said["empty"].output == "[the file is empty]"
    assert "a named pipe" in said["pipe"].output
    assert "leads out of the workspace" in said["zero"].output
    assert "leads out of the workspace" in said["/dev/zero"].output
    assert "is a folder" in said["folder"].output
    assert f"a binary file of {5 << 30} bytes" in said["sparse"].output
    assert [path for path, result in said.items() if not result.is_error] == ["empty"]


@pytest.mark.fault("F15")
@pytest.mark.timeout(60)
async def test_a_line_of_fifty_megabytes_is_shown_in_part(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.json").write_bytes(b"x" * 50_000_000 + b"\nsecond\n")
    result = await called(tmp_path, "read_file", {"path": "a.json"})
    assert len(result.output) < 20_000
    assert result.output.endswith("[... the line goes on ...]\n     2\tsecond")
    second = await called(tmp_path, "read_file", {"path": "a.json", "offset": 2})
    assert second.output == "     2\tsecond"


@pytest.mark.fault("F15")
async def test_invalid_utf_8_in_the_middle_crashes_nothing(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.txt").write_bytes(
        "gr\u00fc\u00dfe\n".encode() * 20_000 + b"bad \xff\xfe\x80 end\nok\n"
    )
    result = await called(tmp_path, "read_file", {"path": "a.txt", "offset": 20_000})
    assert (
        result.output == " 20000\tgr\u00fc\u00dfe\n 20001\tbad \u00ff\u00fe\u0080 end\n 20002\tok"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
async def test_a_file_without_permission_says_so(tmp_path: pathlib.Path) -> None:
    (tmp_path / "secret").write_text("x")
    (tmp_path / "secret").chmod(0)
    result = await called(tmp_path, "read_file", {"path": "secret"})
    assert "'secret' cannot be used: Permission denied" in result.output


@pytest.mark.fault("F73")
@pytest.mark.parametrize(
    "path", ["out/passwd", "/proc/self/root/etc/passwd", "inside/../../x", "root/etc/passwd"]
)
async def test_a_path_that_leads_out_is_refused(path: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "out").symlink_to("/etc")
    (tmp_path / "root").symlink_to("/proc/self/root")
    result = await called(tmp_path, "read_file", {"path": path})
    assert "leads out of the workspace" in result.output


@pytest.mark.fault("F73")
@pytest.mark.timeout(180)
async def test_a_folder_that_is_swapped_for_a_link_while_it_is_read_never_leads_out(
    tmp_path: pathlib.Path,
) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "there").mkdir(parents=True)
    outside.mkdir()
    (root / "there" / "a.txt").write_text("inside\n")
    (outside / "a.txt").write_text("outside\n")
    stop = asyncio.Event()

    def swap() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError):
                (root / "there").rename(root / "aside")
                (root / "there").symlink_to(outside)
                (root / "there").unlink()
                (root / "aside").rename(root / "there")

    swapping = asyncio.get_running_loop().run_in_executor(None, swap)
    try:
        outputs = set()
        tried, end = 0, time.monotonic() + DEADLINE_SECONDS
        # More where both threads went in step.
        while tried < 1500 or (INSIDE not in outputs and time.monotonic() < end):
            outputs.add((await called(root, "read_file", {"path": "there/a.txt"})).output)
            tried += 1
            await asyncio.sleep(0.0001 * (tried % 7) if tried > 1500 else 0)
    finally:
        stop.set()
        await swapping
    assert not [output for output in outputs if "outside\n" in f"{output}\n"]
    assert INSIDE in outputs


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "path is required"),
        ({"path": ""}, "path must not be empty"),
        ({"path": 3}, "path must be a string, not the number 3"),
        ({"path": "a", "offset": 0}, "offset must be at least 1, not 0"),
        ({"path": "a", "limit": "x"}, "limit must be a whole number, not a string"),
        ({"path": "a", "lines": 3}, "lines is not an argument of this tool"),
        ({"path": "a\x00b"}, "without NUL"),
        ({"path": "a\ud800"}, "half a character"),
    ],
)
async def test_bad_arguments_are_named(
    arguments: dict[str, object], words: str, tmp_path: pathlib.Path
) -> None:
    result = await called(tmp_path, "read_file", arguments)
    assert result.is_error
    assert words in result.output
