"""The pages of decisions: what waits for a person, what agents may do, why it was decided so."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.browsing import kept_shot, violations
from tests.fakes.cluster import Cluster
from tests.fakes.cluster_fixtures import ClusterMaker

LOOKS = [("light", 1440, 900), ("dark", 1440, 900), ("light", 390, 844), ("dark", 390, 844)]
DESK = LOOKS[0]
SECONDS = 1000
SOON = 20 * SECONDS
WHICH = (
    'call: ask_user_question {"questions": [{"question": "Which reading stands for 02:00?", '
    '"options": [{"label": "Both, marked A and B", "description": "745 rows."}, '
    '{"label": "Only the first", "description": "744 rows, as published until now."}]}]}'
)
SEVERAL = (
    'call: ask_operator {"questions": [{"question": "Which stations?", "multi_select": true, '
    '"options": [{"label": "Cuxhaven"}, {"label": "Husum"}, {"label": "Emden"}]}, '
    '{"question": "When?", "options": [{"label": "Tonight"}, {"label": "Tomorrow"}]}]}'
)
PLAN = (
    'call: exit_plan_mode {"plan": "# Mend October\\n\\n1. Read the log\\n2. Change the **key**"}'
)


class People:
    """Those who look at one cluster: its administrator, and a viewer."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.url = cluster.consoles[0].url
        self.admin = (cluster.folder / "admin.token").read_text().strip()
        self.ask("/v1/users", {"name": "vera", "role": "viewer"})
        self.viewer = str(self.ask("/v1/tokens", {"name": "vera"})["token"])

    def ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """What the console answers to a write of the administrator."""
        headers = {"Authorization": f"Bearer {self.admin}"}
        answer = httpx.post(f"{self.url}{path}", json=body, headers=headers)
        made: dict[str, Any] = answer.raise_for_status().json()
        return made

    def look(self, path: str) -> dict[str, Any]:
        """What the console shows the administrator."""
        headers = {"Authorization": f"Bearer {self.admin}"}
        seen: dict[str, Any] = httpx.get(f"{self.url}{path}", headers=headers).json()
        return seen

    def works(self, name: str, message: str, **options: str) -> str:
        """The id of a new workstream that works on this message."""
        made = self.ask("/v1/workstreams", {"name": name, "message": message, **options})
        return str(made["id"])

    def waits(self, workstream: str) -> dict[str, Any]:
        """The workstream, once it waits for a person."""
        return self.rests(workstream, "waiting")

    def rests(self, workstream: str, state: str = "idle") -> dict[str, Any]:
        """The workstream, once it is in this state."""
        end = time.monotonic() + SOON / SECONDS
        while (view := self.look(f"/v1/workstreams/{workstream}"))["state"] != state:
            assert time.monotonic() < end, view
            time.sleep(0.05)
        return view


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    maker = ClusterMaker(tmp_path_factory.mktemp("cluster"))
    cluster = maker(nodes=1)
    (cluster.workspace / "backfill.py").write_text("hour = local(at)\nwrite(hour)\n")
    yield People(cluster)
    maker.close()


@contextmanager
def signed_in(
    browser: Browser, people: People, look: tuple[str, int, int] = DESK, token: str = ""
) -> Iterator[Page]:
    """A page of someone who signed in with a token, the administrator's unless another is given."""
    theme, width, height = look
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=theme,  # type: ignore[arg-type] # a literal by construction
    )
    page = context.new_page()
    page.set_default_timeout(SOON)
    page.goto(f"{people.url}/#/signin")
    page.get_by_label("Token").fill(token or people.admin)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Sign in to Redshank")
    yield page
    context.close()


def turn_to(page: Page, where: str) -> None:
    page.goto(f"{page.url.split('#')[0]}#/{where}")


def shot(page: Page, name: str, look: tuple[str, int, int]) -> None:
    theme, width, _ = look
    kept_shot(page, f"{name}-{'phone-' if width < 721 else ''}{theme}")


def row(page: Page, text: str) -> Locator:
    return (
        page.get_by_role("list", name="Oldest first").get_by_role("listitem").filter(has_text=text)
    )


@pytest.fixture
def clear(people: People) -> People:
    """The cluster where nothing waits for a person."""
    for item in people.look("/v1/workstreams?limit=200")["items"]:
        if item["state"] != "closed":
            people.ask(f"/v1/workstreams/{item['id']}/close", {})
    return people


@pytest.mark.req("K-50", "K-51", "K-52")
def test_the_inbox_is_answered_by_keyboard(browser: Browser, clear: People) -> None:
    once = clear.works("tide-once", "run: echo once > once.txt")
    clear.waits(once)
    more = clear.works("tide-more", "run: echo more > more.txt\nthen\nrun: echo again >> more.txt")
    clear.waits(more)
    denied = clear.works("tide-denied", "run: echo no > denied.txt")
    clear.waits(denied)
    with signed_in(browser, clear) as page:
        badge = page.get_by_role("navigation", name="Main").get_by_role("link", name="Approvals")
        expect(badge).to_contain_text("3 need you")
        page.keyboard.press("g")
        page.keyboard.press("a")
        expect(page.get_by_role("region", name="bash in tide-once")).to_be_visible()
        page.keyboard.press("a")
        expect(page.get_by_role("region", name="bash in tide-more")).to_be_visible()
        clear.rests(once)
        expect(row(page, "tide-once")).to_contain_text("answered")
        expect(badge).to_contain_text("2 need you")
        page.wait_for_timeout(500)
        page.keyboard.press("w")
        expect(page.get_by_role("region", name="bash in tide-denied")).to_be_visible()
        clear.rests(more)
        page.keyboard.press("d")
        page.keyboard.type("write it to the log instead")
        page.keyboard.press("Enter")
        expect(badge).not_to_contain_text("need you")
        clear.rests(denied)
    assert (clear.cluster.workspace / "once.txt").exists()
    assert clear.cluster.lines("more.txt") == ["more", "again"]
    assert not (clear.cluster.workspace / "denied.txt").exists()
    audits = clear.look(f"/v1/workstreams/{denied}/permission-audits")["items"]
    assert audits[0]["reason"] == "write it to the log instead"
