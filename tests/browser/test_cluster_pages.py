"""The cluster's pages: who runs, what needs a person, what comes due."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from redshank_shared.clock import now_utc, rfc3339
from tests.browser.browsing import kept_shot, violations
from tests.fakes.cluster import Cluster
from tests.fakes.cluster_fixtures import ClusterMaker

LOOKS = [("light", 1440, 900), ("dark", 1440, 900), ("light", 390, 844), ("dark", 390, 844)]
WORKS_SECONDS = 120


@pytest.fixture(scope="module")
def three_nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster of three nodes that work, where an approval waits."""
    maker = ClusterMaker(tmp_path_factory.mktemp("cluster"))
    cluster = maker(nodes=3)
    ask(cluster, "/v1/workstreams", {"name": "tide-gauge", "message": "run: echo hi > a.txt"})
    ask(cluster, "/v1/workstreams", {"name": "marsh-report", "message": "read: README.md"})
    for number in range(1, 7):
        told = f"slow: {WORKS_SECONDS} the water rises over the flats"
        ask(cluster, "/v1/workstreams", {"name": f"tide-{number}", "message": told})
    yield cluster
    maker.close()


@pytest.fixture(scope="module")
def with_schedules(three_nodes: Cluster) -> Cluster:
    """The same with a schedule of each kind."""
    made = ask(three_nodes, "/v1/workstreams", {"name": "keeper-of-times"})
    at = rfc3339(now_utc() + timedelta(days=3))
    watch = {"command": "cat gauge.txt", "poll_every": 60, "stop_on": "exit_code == 0"}
    cadences: dict[str, dict[str, Any]] = {
        "gauge-feed": {"watch": watch},
        "sentry-digest": {"interval": {"every_seconds": 400}, "message": "read: README.md"},
        "nightly-backup": {
            "cron": {"expression": "0 3 * * *", "timezone": "Europe/Berlin"},
            "message": "read: README.md",
        },
        "embargo-lift": {"once": {"at": at}, "message": "read: README.md"},
    }
    for name, cadence in cadences.items():
        body = {"workstream": made["id"], "name": name, **cadence}
        ask(three_nodes, "/v1/schedules", body)
    return three_nodes


def ask(cluster: Cluster, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """What the console answers to a write of the administrator."""
    headers = {"Authorization": f"Bearer {token_of(cluster)}"}
    answer = httpx.post(f"{cluster.consoles[0].url}{path}", json=body, headers=headers)
    made: dict[str, Any] = answer.raise_for_status().json()
    return made


def token_of(cluster: Cluster) -> str:
    return (cluster.folder / "admin.token").read_text().strip()


@contextmanager
def signed_in(
    browser: Browser, cluster: Cluster, look: tuple[str, int, int] = LOOKS[0]
) -> Iterator[Page]:
    """A page of someone who signed in with the administrator's token."""
    theme, width, height = look
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=theme,  # type: ignore[arg-type] # a literal by construction
    )
    page = context.new_page()
    page.goto(f"{cluster.consoles[0].url}/#/signin")
    page.get_by_label("Token").fill(token_of(cluster))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="Workstreams")).to_be_visible()
    yield page
    context.close()


def row(page: Page, name: str) -> Any:
    """The row of a table that begins with a name."""
    return page.get_by_role("row").filter(has=page.get_by_role("link", name=name, exact=True))


@pytest.mark.req("T-78")
def test_a_killed_node_stays_on_the_page_as_lost(browser: Browser, three_nodes: Cluster) -> None:
    with signed_in(browser, three_nodes) as page:
        page.keyboard.press("g")
        page.keyboard.press("n")
        expect(page.get_by_role("heading", level=1, name="Nodes")).to_be_visible()
        for name in ("node-1", "node-2", "node-3"):
            expect(row(page, name)).to_contain_text("up")
        three_nodes.node("node-2").kill()
        expect(row(page, "node-2")).to_contain_text("lost")
        expect(row(page, "node-1")).to_contain_text("up")
        expect(page.get_by_label("node-2 is lost")).to_contain_text("Last heartbeat")
        expect(page.get_by_label("Cluster status")).to_contain_text("2/31 lost")
        expect(page.get_by_role("alert")).to_have_text("1 node lost")


@pytest.mark.parametrize("look", LOOKS)
def test_the_nodes_page_is_for_everyone(
    browser: Browser, three_nodes: Cluster, look: tuple[str, int, int]
) -> None:
    three_nodes.node("node-2").kill()
    with signed_in(browser, three_nodes, look) as page:
        page.goto(f"{page.url.split('#')[0]}#/nodes/node-1")
        expect(page.get_by_label("node-2 is lost")).to_be_visible()
        expect(page.get_by_role("heading", name="node-1")).to_be_visible()
        assert violations(page) == []
        kept_shot(page, f"nodes-{kind_of(look)}")


@pytest.mark.parametrize("look", LOOKS)
def test_the_overview_shows_what_needs_a_person(
    browser: Browser, three_nodes: Cluster, look: tuple[str, int, int]
) -> None:
    with signed_in(browser, three_nodes, look) as page:
        page.goto(f"{page.url.split('#')[0]}#/overview")
        needs = page.get_by_role("region", name="Needs you")
        expect(needs.get_by_role("link", name="tide-gauge")).to_be_visible()
        expect(page.get_by_role("region", name="Why is it waiting")).to_contain_text("approval")
        assert violations(page) == []
        kept_shot(page, f"overview-{kind_of(look)}")


def kind_of(look: tuple[str, int, int]) -> str:
    theme, width, _ = look
    return f"phone-{theme}" if width < 721 else theme


@pytest.mark.req("K-94")
@pytest.mark.parametrize("look", LOOKS)
def test_the_schedules_page_shows_what_comes_due(
    browser: Browser, with_schedules: Cluster, look: tuple[str, int, int]
) -> None:
    with signed_in(browser, with_schedules, look) as page:
        page.goto(f"{page.url.split('#')[0]}#/schedules")
        for name in ("gauge-feed", "sentry-digest", "nightly-backup", "embargo-lift"):
            expect(page.get_by_role("row").filter(has_text=name)).to_contain_text("keeper-of-times")
        expect(page.get_by_role("row").filter(has_text="nightly-backup")).to_contain_text(
            "cron, Europe/Berlin0 3 * * *"
        )
        assert violations(page) == []
        kept_shot(page, f"schedules-{kind_of(look)}")


@pytest.mark.req("K-89", "K-90", "K-94")
def test_a_person_makes_pauses_and_cancels_a_schedule(
    browser: Browser, with_schedules: Cluster
) -> None:
    with signed_in(browser, with_schedules) as page:
        page.goto(f"{page.url.split('#')[0]}#/schedules")
        page.get_by_role("button", name="New schedule").click()
        dialog = page.get_by_role("dialog", name="New schedule")
        dialog.get_by_label("Workstream").select_option("keeper-of-times")
        dialog.get_by_label("Name").fill("tide-table")
        dialog.get_by_label("Message").fill("read: README.md")
        dialog.get_by_role("button", name="Cron").click()
        dialog.get_by_label("Expression").fill("61 * * * *")
        dialog.get_by_role("button", name="Schedule it").click()
        expect(dialog.get_by_label("Expression")).to_have_attribute("aria-invalid", "true")
        assert violations(page) == []
        dialog.get_by_label("Expression").fill("0 6 * * *")
        dialog.get_by_role("button", name="Schedule it").click()
        expect(dialog).to_be_hidden()
        made = page.get_by_role("row").filter(has_text="tide-table")
        expect(made).to_contain_text("in ")
        page.get_by_role("button", name="Pause tide-table").click()
        expect(made).to_contain_text("paused")
        page.get_by_role("button", name="Resume tide-table").click()
        expect(made).to_contain_text("in ")
        page.get_by_role("button", name="Cancel tide-table").click()
        page.get_by_role("button", name="Cancel this schedule").click()
        expect(made).to_be_hidden()
        page.get_by_role("navigation", name="Views").get_by_role("link", name="Ended").click()
        expect(made).to_contain_text("cancelled")
