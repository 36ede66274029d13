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
    'call: ask_user_question {"questions": [{"question": "Which stations?", "multi_select": true, '
    '"options": [{"label": "Cuxhaven"}, {"label": "Husum"}, {"label": "Emden"}]}, '
    '{"question": "When?", "options": [{"label": "Tonight"}, {"label": "Tomorrow"}]}]}'
)
PLAN = (
    'call: exit_plan_mode {"plan": "# Mend October\\n\\n1. Read the log\\n2. Change the **key**"}'
)


AT_REST = """() => Promise.allSettled(document.getAnimations()
    .filter(each => each instanceof CSSTransition).map(each => each.finished))"""


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
    expect(page.get_by_role("navigation").first).to_be_visible()
    yield page
    context.close()


def turn_to(page: Page, where: str) -> None:
    page.goto(f"{page.url.split('#')[0]}#/{where}")


def wrong_on(page: Page) -> list[str]:
    """What axe finds wrong once colours have come to rest."""
    page.evaluate(AT_REST)
    return violations(page)


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


@pytest.mark.parametrize("look", LOOKS)
def test_the_inbox_shows_what_each_call_would_do(
    browser: Browser, clear: People, look: tuple[str, int, int]
) -> None:
    change = '"old_string": "local(at)", "new_string": "utc(at)"'
    mends = f'call: edit_file {{"path": "backfill.py", {change}}}'
    made = [
        clear.works("marsh-report", "run: git bisect run make test-one T=test_lease"),
        clear.works("backfill", mends),
        clear.works("october", PLAN, mode="plan"),
    ]
    for workstream in made:
        clear.waits(workstream)
    with signed_in(browser, clear, look) as page:
        turn_to(page, "approvals")
        expect(row(page, "marsh-report")).to_contain_text("git bisect")
        assert wrong_on(page) == []
        shot(page, "approvals", look)
        row(page, "backfill").click()
        diff = page.get_by_role("group", name="Change to backfill.py", exact=False)
        expect(diff).to_contain_text("utc(at)")
        assert wrong_on(page) == []
        shot(page, "approvals-diff", look)
        turn_to(page, "approvals")
        row(page, "october").click()
        expect(page.get_by_role("group", name="The plan")).to_contain_text("Change the key")
        assert wrong_on(page) == []
        shot(page, "approvals-plan", look)
        page.get_by_role("button", name="Always").click()
        expect(page.get_by_role("button", name="For me, everywhere")).to_be_visible()
        assert wrong_on(page) == []
        shot(page, "approvals-always", look)


@pytest.mark.parametrize("look", LOOKS)
def test_questions_are_shown_with_their_options(
    browser: Browser, clear: People, look: tuple[str, int, int]
) -> None:
    one = clear.works("tide-gauge", WHICH)
    clear.waits(one)
    clear.waits(clear.works("stations", SEVERAL))
    with signed_in(browser, clear, look) as page:
        turn_to(page, "questions")
        expect(row(page, "tide-gauge")).to_contain_text("Which reading")
        row(page, "stations").click()
        expect(page.get_by_role("group", name="Which stations?")).to_be_visible()
        assert wrong_on(page) == []
        shot(page, "questions", look)
        turn_to(page, f"workstreams/{one}")
        expect(page.get_by_role("radio", name="Only the first")).to_be_visible()
        page.keyboard.press("2")
        expect(page.get_by_role("radio", name="Only the first")).to_be_checked()
        assert wrong_on(page) == []
        shot(page, "question", look)


@pytest.mark.req("K-47", "K-48", "B-5")
@pytest.mark.parametrize("look", LOOKS)
def test_the_permissions_page_says_what_is_decided_and_why(
    browser: Browser, clear: People, look: tuple[str, int, int]
) -> None:
    clear.ask("/v1/permissions/rules", {"scope": "project", "pattern": "bash", "decision": "ask"})
    locked = {
        "scope": "user",
        "pattern": "mcp__github__delete_*",
        "decision": "deny",
        "locked": True,
    }
    clear.ask("/v1/permissions/rules", locked)
    with signed_in(browser, clear, look) as page:
        turn_to(page, "permissions")
        cell = page.get_by_role("button", name="edit_file, acceptEdits: allow", exact=False)
        cell.click()
        expect(
            page.get_by_text("edit_file in acceptEdits").locator("visible=true").first
        ).to_be_visible()
        assert wrong_on(page) == []
        shot(page, "permissions", look)
        turn_to(page, "permissions?view=rules")
        project = page.get_by_role("region", name="Project")
        expect(project.get_by_role("listitem").filter(has_text="bash")).to_contain_text("ask")
        assert wrong_on(page) == []
        shot(page, "permissions-rules", look)
        turn_to(page, "permissions?view=compare")
        policy = (
            '[[rule]]\nscope = "project"\npattern = "bash"\ndecision = "deny"\n\n'
            '[[rule]]\nscope = "user"\npattern = "write_file"\ndecision = "allow"\n\n'
            '[[expect]]\ntool = "bash"\ndecision = "deny"\n\n'
            '[[expect]]\ntool = "read_file"\ndecision = "ask"\n'
        )
        page.get_by_label("Policy to compare", exact=False).fill(policy)
        page.get_by_role("button", name="Compare").click()
        figures = page.get_by_role("region", name="The difference in figures")
        expect(figures).to_contain_text("1 fails")
        expect(page.get_by_role("row").filter(has_text="write_file")).to_contain_text("allow")
        assert wrong_on(page) == []
        shot(page, "permissions-compare", look)


@pytest.mark.req("K-45", "B-6")
@pytest.mark.parametrize("look", LOOKS)
def test_every_decided_call_says_why(
    browser: Browser, clear: People, look: tuple[str, int, int]
) -> None:
    mine = clear.works("why", "read: backfill.py\nrun: echo why > why.txt", mode="acceptEdits")
    view = clear.waits(mine)
    answer = {"request_id": view["pending_approvals"][0]["request_id"], "behavior": "allow"}
    clear.ask(f"/v1/workstreams/{mine}/approvals", {"resolutions": [answer]})
    clear.rests(mine)
    with signed_in(browser, clear, look) as page:
        turn_to(page, f"workstreams/{mine}")
        page.get_by_role("button", name="allow by AD: why?", exact=False).click()
        why = page.get_by_role("dialog", name="Why allow")
        expect(why).to_contain_text("Allowed by admin, for this call only")
        expect(why).to_contain_text("Hooks")
        assert wrong_on(page) == []
        shot(page, "why", look)
        page.keyboard.press("Escape")
        if look[1] < 721:
            page.get_by_role("button", name="Facts", exact=True).click()
        page.get_by_role("tab", name="Audit").click()
        decisions = page.get_by_role("list", name="Decisions, newest first")
        expect(decisions.get_by_role("listitem")).to_have_count(2)
        expect(decisions.get_by_role("listitem").first).to_contain_text("allowed by admin")
        assert wrong_on(page) == []
        shot(page, "audit", look)
