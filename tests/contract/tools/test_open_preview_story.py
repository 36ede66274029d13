"""open_preview, as an agent uses it: pages, files, kept assets, whatever they hold."""

import csv
import io
import os
import pathlib

import pytest
from aiohttp import web

from redshank_node.tools.builtin import open_preview, store_asset
from redshank_node.tools.support.previews.kinds import MOST_BYTES
from redshank_node.tools.tool import BadArguments, Workspace
from redshank_shared.domain.artifact_events import PreviewKind, PreviewOpened
from redshank_shared.domain.artifacts import PREVIEWS_KEPT
from redshank_shared.vault.redaction import Redactor
from tests.contract.artifact_world import ArtifactWorld, said
from tests.fakes.web_world import WebWorld, web_world

pytest_plugins = ("tests.contract.artifact_fixtures",)
pytestmark = pytest.mark.req("T-33")

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
PDF = b"%PDF-1.7\n" + bytes(40)
CSV = "station,level\nHusum,4.2\nEmden,3.1\n"
SVG = '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"></svg>'
KINDS: list[tuple[str, bytes | str, PreviewKind, str]] = [
    ("page.html", "<!doctype html><title>Tides</title>", "web", "text/html; charset=utf-8"),
    ("page", "<html><body>no name says so</body></html>", "web", "text/html; charset=utf-8"),
    ("paper.pdf", PDF, "pdf", "application/pdf"),
    ("paper.txt", PDF, "pdf", "application/pdf"),
    ("bird.png", PNG, "image", "image/png"),
    ("bird", b"\xff\xd8\xff\xe0" + bytes(20), "image", "image/jpeg"),
    ("bird.gif", b"GIF89a" + bytes(20), "image", "image/gif"),
    ("bird.svg", SVG, "image", "image/svg+xml"),
    ("levels.csv", CSV, "table", "text/csv; charset=utf-8"),
    ("levels.tsv", CSV.replace(",", "\t"), "table", "text/tab-separated-values; charset=utf-8"),
    ("levels.json", '[{"station": "Husum"}, {"level": 4.2}]', "table", "application/json"),
    ("levels.json", "[[1, 2], [3, 4]]", "table", "application/json"),
    ("settings.json", '{"depth": 3}', "text", "text/plain; charset=utf-8"),
    ("broken.json", "[{", "text", "text/plain; charset=utf-8"),
    ("notes.md", "# Tides", "markdown", "text/markdown; charset=utf-8"),
    ("log.txt", "08:15 high water", "text", "text/plain; charset=utf-8"),
    ("Makefile", "all:\n\tbuild", "text", "text/plain; charset=utf-8"),
]


async def opened(world: ArtifactWorld, **arguments: str) -> PreviewOpened:
    """What is shown of the target."""
    result = await world.call(open_preview.TOOL, **arguments)
    assert not result.is_error, result.output
    assert "\n" not in result.output
    fact = world.last_fact()
    assert isinstance(fact, PreviewOpened)
    return fact


async def refusal(world: ArtifactWorld, **arguments: str) -> str:
    """Why the target is not shown, before or while it is."""
    try:
        result = await world.call(open_preview.TOOL, **arguments)
    except BadArguments as wrong:
        return str(wrong)
    assert result.is_error, result.output
    assert result.command is None
    return result.output


@pytest.mark.parametrize(("name", "body", "kind", "media_type"), KINDS)
async def test_the_content_says_what_a_file_is_shown_as(
    world: ArtifactWorld, name: str, body: bytes | str, kind: PreviewKind, media_type: str
) -> None:
    world.write(name, body)

    fact = await opened(world, target=name)

    assert (fact.shows, fact.media_type, fact.source) == (kind, media_type, name)
    kept = world.kept(fact.digest)
    assert kept.body == (body.encode() if isinstance(body, str) else body)
    assert fact.size == len(kept.body)


async def test_the_model_reads_one_line_and_none_of_the_content(world: ArtifactWorld) -> None:
    world.write("levels.csv", CSV)

    result = await world.call(open_preview.TOOL, target="levels.csv", title="Levels  today")

    fact = world.last_fact()
    assert isinstance(fact, PreviewOpened)
    assert fact.title == "Levels today"
    assert result.output == (
        f"The user is shown table 'Levels today' ({len(CSV)} bytes, {fact.digest})."
    )


@pytest.mark.parametrize(
    ("name", "body", "kind", "why"),
    [
        ("bird.png", PNG, "pdf", "its content is image, not pdf"),
        ("log.txt", "text", "image", "its content is text, not image"),
        ("log.txt", "text", "pdf", "its content is text, not pdf"),
        ("settings.json", '{"a": 1}', "table", "its JSON is no table"),
        ("empty.txt", "", "text", "it is empty"),
        ("tool", b"\x7fELF" + bytes(90), "text", "it is a ELF program"),
        ("noise", bytes(90), "text", "it is a binary file"),
        ("scan.tiff", b"II*\x00" + bytes(90), "image", "convert it to PNG"),
    ],
)
async def test_what_is_not_of_the_wanted_kind_is_refused_with_the_mend(
    world: ArtifactWorld, name: str, body: bytes | str, kind: str, why: str
) -> None:
    world.write(name, body)

    assert why in await refusal(world, target=name, kind=kind)


async def test_a_wanted_kind_stands_above_the_name(world: ArtifactWorld) -> None:
    world.write("notes.md", "# Tides")
    world.write("data.txt", "a;b\n1;2\n")

    assert (await opened(world, target="notes.md", kind="text")).shows == "text"
    table = await opened(world, target="data.txt", kind="table")
    rows = list(csv.reader(io.StringIO(world.kept(table.digest).body.decode())))
    assert (table.media_type, rows) == ("text/csv; charset=utf-8", [["a", "b"], ["1", "2"]])


async def test_rows_that_end_as_on_an_old_macintosh_are_rows(world: ArtifactWorld) -> None:
    world.write("data.csv", "a,b\r1,2\r")

    table = await opened(world, target="data.csv")

    assert (table.shows, world.kept(table.digest).body) == ("table", b"a,b\n1,2\n")


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<!---->" * 580 + "x", "text"),
        ("<!---->" * 300 + "<html>", "web"),
        ("<!-- a --><!doctype svg><!-- b --><svg/>", "image"),
    ],
)
async def test_comments_before_the_content_are_passed_over_once(
    world: ArtifactWorld, text: str, kind: PreviewKind
) -> None:
    world.write("page", text)

    assert (await opened(world, target="page")).shows == kind


@pytest.mark.parametrize(
    ("kind", "mebibytes"),
    [("web", 4), ("pdf", 32), ("image", 4), ("table", 2), ("text", 0.5), ("markdown", 0.5)],
)
async def test_more_than_the_cap_of_a_kind_is_refused(
    world: ArtifactWorld, kind: PreviewKind, mebibytes: float
) -> None:
    heads = {"web": b"<html>", "pdf": PDF, "image": PNG, "table": b"a,b\n"}
    names = {"web": "a.html", "table": "a.csv", "markdown": "a.md"}
    name, cap = names.get(kind, "a"), int(mebibytes * 1024 * 1024)
    assert MOST_BYTES[kind] == cap
    body = (heads.get(kind, b"") + b"x,\n" * cap)[: cap + 1]
    world.write(name, body)

    for wanted in ({}, {"kind": kind}):
        assert f"at most {cap} are shown as {kind}" in await refusal(world, target=name, **wanted)
    world.write(name, body[:cap])
    assert (await opened(world, target=name)).size == cap


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16", "latin-1"])
async def test_text_of_any_encoding_is_kept_as_utf_8(world: ArtifactWorld, codec: str) -> None:
    world.write("log.txt", "Ebbe über Föhr".encode(codec))

    fact = await opened(world, target="log.txt")

    assert world.kept(fact.digest).body == "Ebbe über Föhr".encode()


@pytest.mark.fault("F17")
@pytest.mark.parametrize(
    "target", ["../out.txt", "/etc/passwd", "out", "/proc/self/root/etc/hosts"]
)
async def test_a_file_outside_the_workspace_is_not_shown(
    world: ArtifactWorld, tmp_path: pathlib.Path, target: str
) -> None:
    (tmp_path / "out.txt").write_text("not yours")
    (world.folder / "out").symlink_to(tmp_path / "out.txt")

    said = await refusal(world, target=target)

    assert said.startswith("target: ")
    assert "leads out of the workspace" in said


@pytest.mark.fault("F21")
async def test_a_folder_a_pipe_and_nothing_are_refused(world: ArtifactWorld) -> None:
    (world.folder / "folder").mkdir()
    os.mkfifo(world.folder / "pipe")

    assert "is a folder" in await refusal(world, target="folder")
    assert "a named pipe" in await refusal(world, target="pipe")
    assert "does not exist" in await refusal(world, target="missing.txt")


async def test_an_asset_of_the_workstream_is_shown_by_its_id(world: ArtifactWorld) -> None:
    world.write("bird.png", PNG)
    asset_id = said(await world.call(store_asset.TOOL, path="bird.png"))["asset_id"]

    for target in (f"attachment:{asset_id}", asset_id, asset_id.removeprefix("sha256:")):
        fact = await opened(world, target=target)
        assert (fact.shows, fact.digest, fact.source) == ("image", asset_id, target)


async def test_what_another_workstream_keeps_is_not_shown(world: ArtifactWorld) -> None:
    assert "keeps nothing under" in await refusal(world, target="attachment:" + "0" * 64)
    assert "64 hex digits" in await refusal(world, target="attachment:12")


async def test_only_a_url_asks_a_person(world: ArtifactWorld) -> None:
    workspace = Workspace(world.folder)
    labels = {
        target: open_preview.TOOL.prepare({"target": target}, workspace).label
        for target in ("https://www.example.com/a", "HTTP://www.example.com", "a.md", "0" * 64)
    }

    assert list(labels.values()) == ["url", "url", "", ""]
    assert open_preview.TOOL.asks == ("url",)


async def test_sub_agents_have_no_previews() -> None:
    assert open_preview.TOOL.top_level
    assert not open_preview.TOOL.task_agent
    assert not open_preview.TOOL.coordinator


async def test_the_same_target_opened_again_takes_the_place_of_the_first(
    world: ArtifactWorld,
) -> None:
    for level in ("1", "2"):
        world.write("log.txt", level)
        await opened(world, target="log.txt")

    (only,) = world.state().previews
    assert isinstance(only.fact, PreviewOpened)
    assert world.kept(only.fact.digest).body == b"2"


async def test_the_last_twenty_are_kept_in_sight(world: ArtifactWorld) -> None:
    for number in range(PREVIEWS_KEPT + 3):
        world.write(f"{number}.txt", str(number))
        await opened(world, target=f"{number}.txt")

    facts = [recorded.fact for recorded in world.state().previews]
    assert [fact.source for fact in facts if isinstance(fact, PreviewOpened)] == [
        f"{number}.txt" for number in range(3, PREVIEWS_KEPT + 3)
    ]


async def test_a_secret_in_a_text_is_blotted_out_of_what_is_kept(world: ArtifactWorld) -> None:
    world.redactor = Redactor(["moonlit-estuary-77"])
    world.write("run.log", "key moonlit-estuary-77 used")

    fact = await opened(world, target="run.log")

    kept = world.kept(fact.digest)
    assert b"moonlit-estuary-77" not in kept.body
    assert fact.size == len(kept.body)


def answering(web_: WebWorld, body: bytes, content_type: str, status: int = 200) -> None:
    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(status=status, body=body, headers={"Content-Type": content_type})

    web_.answer = answer


async def test_a_page_is_kept_with_its_own_address_and_title(world: ArtifactWorld) -> None:
    page = "<!doctype html><html><head><title> Tides &amp; birds </title></head>Föhr</html>"
    async with web_world() as web_:
        answering(web_, page.encode("latin-1"), "text/html; charset=iso-8859-1")
        result = await world.call(
            open_preview.tool(web_.network), target="http://www.example.com/tides/now.php"
        )

    assert not result.is_error, result.output
    fact = world.last_fact()
    assert isinstance(fact, PreviewOpened)
    assert (fact.shows, fact.title) == ("web", "Tides & birds")
    body = world.kept(fact.digest).body.decode()
    assert '<head><base href="http://www.example.com/tides/now.php"><title>' in body
    assert "Föhr" in body


@pytest.mark.parametrize(
    ("path", "content_type", "body", "kind"),
    [
        ("paper", "application/pdf", PDF, "pdf"),
        ("levels", "text/csv", CSV.encode(), "table"),
        ("levels.csv", "text/plain", CSV.encode(), "table"),
        ("levels.csv", "application/octet-stream", CSV.encode(), "table"),
        ("api/levels", "application/json", b'[{"a": 1}]', "table"),
        ("readme.md", "text/plain; charset=utf-8", b"# Hi", "markdown"),
        ("bird", "image/png", PNG, "image"),
        ("index.json", "text/html", b"<p>an error page</p>", "web"),
    ],
)
async def test_a_servers_word_counts_for_more_than_the_address(
    world: ArtifactWorld, path: str, content_type: str, body: bytes, kind: PreviewKind
) -> None:
    async with web_world() as web_:
        answering(web_, body, content_type)
        result = await world.call(
            open_preview.tool(web_.network), target=f"http://www.example.com/{path}"
        )

    assert not result.is_error, result.output
    fact = world.last_fact()
    assert isinstance(fact, PreviewOpened)
    assert fact.shows == kind


@pytest.mark.fault("F20", "F63")
@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8090/v1/me", "http://localhost/", "http://[::1]/", "http://10.0.0.1/"],
)
async def test_a_private_address_is_refused_before_anybody_is_asked(
    world: ArtifactWorld, url: str
) -> None:
    assert "private network" in await refusal(world, target=url)


@pytest.mark.fault("F20", "F63")
async def test_a_name_or_a_redirect_that_leads_inside_is_not_fetched(world: ArtifactWorld) -> None:
    names = {"nas.example": [["192.168.1.9"]], "www.example.com": [["93.184.216.34"]]}
    async with web_world(names, hops=["http://nas.example/secret"]) as web_:
        tool = open_preview.tool(web_.network)
        straight = await world.call(tool, target="http://nas.example/secret")
        around = await world.call(tool, target="http://www.example.com/")
        assert web_.connected == ["93.184.216.34"]

    assert straight.is_error
    assert around.is_error
    assert "redirect 1 to http://nas.example/secret" in around.output


@pytest.mark.fault("F63")
@pytest.mark.parametrize("location", ["http://[", "http://[::1", "ftp://a.example/"])
async def test_a_redirect_to_what_is_no_address_is_refused(
    world: ArtifactWorld, location: str
) -> None:
    async with web_world(hops=[location]) as web_:
        tool = open_preview.tool(web_.network)
        result = await world.call(tool, target="http://www.example.com/")

    assert result.is_error
    assert f"redirect 1 to {location}: " in result.output


@pytest.mark.fault("F15")
@pytest.mark.parametrize(
    ("title", "shown"), [("Tides &amp; &#77;ud", "Tides & Mud"), (f"a&#{'9' * 5000};b", "a\ufffdb")]
)
async def test_a_title_is_read_whatever_numbers_it_writes_its_characters_with(
    world: ArtifactWorld, title: str, shown: str
) -> None:
    world.write("page.html", f"<html><title>{title}</title><p>x</p>")

    assert (await opened(world, target="page.html")).title == shown


async def test_an_answer_that_is_no_page_is_told_by_its_status(world: ArtifactWorld) -> None:
    async with web_world() as web_:
        answering(web_, b"gone", "text/plain", 404)
        result = await world.call(
            open_preview.tool(web_.network), target="http://www.example.com/a"
        )

    assert result.is_error
    assert "answered 404" in result.output


async def test_a_page_of_more_than_its_cap_is_not_shown(world: ArtifactWorld) -> None:
    async with web_world() as web_:
        answering(web_, b"<html>" + b"x" * MOST_BYTES["web"], "text/html")
        tool = open_preview.tool(web_.network)
        result = await world.call(tool, target="http://www.example.com/a", kind="web")
        unasked = await world.call(tool, target="http://www.example.com/a")

    assert result.is_error
    assert str(MOST_BYTES["web"]) in result.output
    assert f"at most {MOST_BYTES['web']} are shown as web" in unasked.output
