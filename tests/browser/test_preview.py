"""The preview beside a conversation: tables, PDF, pages that are still until a viewer lets them."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.people import DESK, LOOKS, PHONE, People, shot, signed_in, turn_to, wrong_on
from tests.fakes.cluster_fixtures import ClusterMaker

pytestmark = pytest.mark.req("T-33")

HOURS = [f"2026-10-25 {hour:02}:00" for hour in range(24)] * 3
LEVELS = [round(2.4 + (hour * 37 % 29) / 10, 2) for hour in range(len(HOURS))]
TABLE = "hour UTC,station,level m,n\n" + "".join(
    f"{hour},{('Cuxhaven', 'Husum', 'Emden')[at % 3]},{level:.2f},{60 - at % 3}\n"
    for at, (hour, level) in enumerate(zip(HOURS, LEVELS, strict=True))
)
PAGE = """<!doctype html><html><head><title>Tides at Husum</title><style>
body { font: 16px/1.5 sans-serif; margin: 32px; color: #17201d; background: #f3f4f1 }
h1 { font-size: 28px } td, th { padding: 4px 16px 4px 0; text-align: left }
#state { display: inline-block; padding: 2px 8px; background: #e0eff5 }</style></head><body>
<h1>Tides at Husum</h1><p id="state">still</p>
<p>High water falls later by about fifty minutes from one day to the next.</p>
<table><tr><th>Day</th><th>High water</th></tr><tr><td>Sunday</td><td>08:15</td></tr>
<tr><td>Monday</td><td>09:02</td></tr></table><img src="{elsewhere}/gauge.png" alt="gauge">
<script>document.getElementById("state").textContent = "runs"</script></body></html>"""


class Elsewhere:
    """Another site; `asked` are the paths that were loaded from it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.arrived = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:  # noqa: N802 - the library's name
                outer.asked.append(self.path)
                outer.arrived.set()
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def serving(self) -> Iterator["Elsewhere"]:
        thread = threading.Thread(target=self._server.serve_forever)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()


def pdf(*lines: str) -> bytes:
    """A PDF of one page with these lines."""
    shown = " ".join(f"({line}) Tj 0 -28 Td" for line in lines)
    stream = f"BT /F1 20 Tf 72 740 Td {shown} ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    body, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%b\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return body + (
        b"xref\n0 %d\n0000000000 65535 f \n%btrailer\n<< /Size %d /Root 1 0 R >>\n"
        b"startxref\n%d\n%%%%EOF\n" % (size, table, size, len(body))
    )


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    with Elsewhere().serving() as serving:
        yield serving


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory, elsewhere: Elsewhere) -> Iterator[People]:
    maker = ClusterMaker(tmp_path_factory.mktemp("cluster"))
    cluster = maker(nodes=1)
    fill(cluster.workspace, elsewhere)
    yield People(cluster)
    maker.close()


def fill(workspace: Path, elsewhere: Elsewhere) -> None:
    (workspace / "levels.csv").write_text(TABLE)
    (workspace / "tides.html").write_text(PAGE.replace("{elsewhere}", elsewhere.url))
    (workspace / "tides.pdf").write_bytes(pdf("Tide tables 2027", "Husum, high water 08:15"))
    (workspace / "notes.md").write_text("# Notes\n\nThe **gauge** at Husum was read by hand.\n")


def showing(people: People, *targets: str) -> str:
    """The id of a workstream whose agent has shown these."""
    calls = "\n".join(f'call: open_preview {{"target": "{target}"}}' for target in targets)
    workstream = people.works("tide-tables", f"Show me {targets[-1]}.\n{calls}")
    people.rests(workstream)
    return workstream


@contextmanager
def looking(
    browser: Browser, people: People, workstream: str, look: tuple[str, int, int] = DESK
) -> Iterator[Page]:
    """The workstream's page, its preview open."""
    with signed_in(browser, people, look) as page:
        turn_to(page, f"workstreams/{workstream}")
        if look[1] < 1121:
            page.get_by_role("button", name="Show preview").click()
        expect(page.get_by_role("complementary", name="Preview")).to_be_visible()
        yield page


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look[0]}-{look[1]}")
def test_a_table_is_sorted_by_its_columns(
    browser: Browser, people: People, look: tuple[str, int, int]
) -> None:
    with looking(browser, people, showing(people, "levels.csv"), look) as page:
        rows = page.get_by_role("table").locator("tbody tr")
        expect(rows).to_have_count(len(LEVELS))
        expect(page.get_by_text("72 rows")).to_be_visible()
        level = page.get_by_role("columnheader", name="level m")
        level.get_by_role("button").click()
        expect(level).to_have_attribute("aria-sort", "ascending")
        expect(rows.first.get_by_role("cell").nth(2)).to_have_text(f"{min(LEVELS):.2f}")
        level.get_by_role("button").click()
        expect(level).to_have_attribute("aria-sort", "descending")
        expect(rows.first.get_by_role("cell").nth(2)).to_have_text(f"{max(LEVELS):.2f}")
        assert wrong_on(page) == []
        shot(page, "preview-table", look)


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look[0]}-{look[1]}")
def test_a_page_does_nothing_until_a_viewer_lets_it(
    browser: Browser, people: People, elsewhere: Elsewhere, look: tuple[str, int, int]
) -> None:
    elsewhere.asked.clear()
    elsewhere.arrived.clear()
    with looking(browser, people, showing(people, "tides.html"), look) as page:
        frame = page.frame_locator("iframe[title='Tides at Husum']")
        expect(frame.locator("#state")).to_have_text("still")
        expect(page.get_by_text("Scripts and remote loads are off.")).to_be_visible()
        assert wrong_on(page) == []
        shot(page, "preview-page", look)
        assert elsewhere.asked == []

        page.get_by_role("button", name="Turn on").click()
        expect(frame.locator("#state")).to_have_text("runs")
        assert elsewhere.arrived.wait(10)
        assert elsewhere.asked == ["/gauge.png"]

        page.get_by_role("button", name="Turn off").click()
        expect(frame.locator("#state")).to_have_text("still")


def test_a_page_that_runs_reaches_nothing_of_redshank(browser: Browser, people: People) -> None:
    (people.cluster.workspace / "thief.html").write_text(
        f"<!doctype html><title>Thief</title><p id=said></p><script>"
        f"const said = document.getElementById('said');"
        f"const tell = (text) => {{ said.textContent += text + ' '; }};"
        f"try {{ tell(document.cookie) }} catch {{ tell('no-cookie') }}"
        f"try {{ tell(parent.document.title) }} catch {{ tell('no-parent') }}"
        f"fetch('{people.url}/v1/me', {{credentials: 'include'}})"
        f".then((answer) => answer.text()).then(tell, () => tell('no-answer'))</script>"
    )
    with looking(browser, people, showing(people, "thief.html")) as page:
        page.get_by_role("button", name="Turn on").click()
        said = page.frame_locator("iframe[title='Thief']").locator("#said")
        expect(said).to_have_text("no-cookie no-parent no-answer ")


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look[0]}-{look[1]}")
def test_a_pdf_is_shown_by_the_browsers_own_viewer(
    browser: Browser, people: People, look: tuple[str, int, int]
) -> None:
    with looking(browser, people, showing(people, "tides.pdf"), look) as page:
        expect(page.locator("iframe[title='tides.pdf']")).to_be_visible()
        ended = time.monotonic() + 20
        # The viewer is a page of the browser's own: it has loaded when it knows the pages.
        while not (viewer := [each for each in page.frames if each.url.startswith("chrome-")]):
            assert time.monotonic() < ended, [frame.url for frame in page.frames]
            page.wait_for_timeout(50)
        viewer[0].wait_for_function(
            "() => { const viewer = document.querySelector('pdf-viewer');"
            " return viewer?.loadProgress_ === 100"
            " && viewer.shadowRoot.querySelector('viewer-toolbar')?.docLength === 1 }"
        )
        assert wrong_on(page) == []
        shot(page, "preview-pdf", look)


def test_the_newest_stands_first_and_another_can_be_chosen(
    browser: Browser, people: People
) -> None:
    workstream = showing(people, "levels.csv", "notes.md")
    with looking(browser, people, workstream) as page:
        pane = page.get_by_role("complementary", name="Preview")
        expect(pane.get_by_role("heading", name="Notes")).to_be_visible()
        expect(pane.locator("strong")).to_have_text("gauge")
        pane.get_by_label("Which preview").select_option(label="levels.csv")
        expect(pane.get_by_role("table")).to_be_visible()
        pane.get_by_role("button", name="Close preview").click()
        expect(pane).to_have_count(0)
        expect(page.get_by_role("complementary", name="Facts")).to_be_visible()
        page.get_by_role("button", name="Show preview").click()
        expect(pane).to_be_visible()


def test_what_is_opened_while_somebody_looks_comes_up_by_itself(
    browser: Browser, people: People
) -> None:
    workstream = showing(people, "levels.csv")
    with looking(browser, people, workstream) as page:
        pane = page.get_by_role("complementary", name="Preview")
        pane.get_by_role("button", name="Close preview").click()
        people.ask(
            f"/v1/workstreams/{workstream}/messages",
            {"text": 'Now the notes.\ncall: open_preview {"target": "notes.md"}'},
        )
        expect(pane.get_by_role("heading", name="Notes")).to_be_visible()


def test_a_phone_shows_a_strip_that_opens_the_preview(browser: Browser, people: People) -> None:
    workstream = showing(people, "levels.csv")
    with signed_in(browser, people, PHONE) as page:
        turn_to(page, f"workstreams/{workstream}")
        strip = page.get_by_role("region", name="Preview")
        expect(strip).to_contain_text("levels.csv")
        assert wrong_on(page) == []
        shot(page, "preview-strip", PHONE)
        strip.get_by_role("button", name="Show preview").click()
        page.get_by_role("button", name="Close preview").click()
        expect(strip).to_be_visible()


@pytest.mark.req("K-14", "K-15")
def test_what_is_delivered_stands_in_the_log_with_its_files(
    browser: Browser, people: People
) -> None:
    (people.cluster.workspace / "gauge.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="240" height="80"><rect width="240" '
        'height="80" fill="#126285"/></svg>'
    )
    workstream = people.works("deliver", 'Keep it.\ncall: store_asset {"path": "gauge.svg"}')
    people.rests(workstream)
    events = people.look(f"/v1/workstreams/{workstream}/events?limit=1000")["items"]
    (stored,) = [event for event in events if event["kind"] == "assets.stored"]
    asset = stored["assets"][0]["digest"]
    body = {"content": "The **gauge** as drawn:", "artifact_ids": [asset]}
    for inline in (True, False):
        asked = json.dumps({**body, "include_artifacts_inline": inline})
        text = f"Deliver it.\ncall: emit_output {asked}"
        people.ask(f"/v1/workstreams/{workstream}/messages", {"text": text})
        people.rests(workstream)

    with signed_in(browser, people) as page:
        turn_to(page, f"workstreams/{workstream}")
        delivered = page.locator(".pv-output")
        expect(delivered).to_have_count(2)
        expect(delivered.first.locator("strong")).to_have_text("gauge")
        image = delivered.first.get_by_role("img")
        expect(image).to_have_js_property("naturalWidth", 240)
        expect(delivered.last.get_by_role("img")).to_have_count(0)
        with page.expect_download() as download:
            delivered.last.get_by_role("link", name="image/svg+xml").click()
        assert download.value.path().read_text().startswith("<svg")
        assert wrong_on(page) == []
        shot(page, "preview-output", DESK)
