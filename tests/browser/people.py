"""People who look at one cluster's pages: its administrator, a viewer."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.browsing import SOON_MILLISECONDS, kept_shot, violations
from tests.fakes.cluster import Cluster

LOOKS = [("light", 1440, 900), ("dark", 1440, 900), ("light", 390, 844), ("dark", 390, 844)]
DESK = LOOKS[0]
PHONE = LOOKS[2]
AT_REST = """() => Promise.allSettled(document.getAnimations()
    .filter(each => each instanceof CSSTransition).map(each => each.finished))"""


class People:
    """Those who look at one cluster: its administrator, an operator, a viewer."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.url = cluster.consoles[0].url
        self.admin = (cluster.folder / "admin.token").read_text().strip()
        self.operator = self._token("olaf", "operator")
        self.viewer = self._token("vera", "viewer")

    def ask(self, path: str, body: dict[str, Any], token: str = "") -> dict[str, Any]:
        """What the console answers to a write, the administrator's unless a token is given."""
        headers = {"Authorization": f"Bearer {token or self.admin}"}
        answer = httpx.post(f"{self.url}{path}", json=body, headers=headers, verify=False)
        made: dict[str, Any] = answer.raise_for_status().json()
        return made

    def look(self, path: str) -> dict[str, Any]:
        """What the console shows the administrator."""
        headers = {"Authorization": f"Bearer {self.admin}"}
        answer = httpx.get(f"{self.url}{path}", headers=headers, verify=False)
        seen: dict[str, Any] = answer.raise_for_status().json()
        return seen

    def clear(self) -> None:
        """Close every workstream, take every rule away."""
        for item in self.look("/v1/workstreams?limit=200")["items"]:
            if item["state"] != "closed":
                self.ask(f"/v1/workstreams/{item['id']}/close", {})
        for rule in self.look("/v1/permissions/rules?limit=200")["items"]:
            headers = {"Authorization": f"Bearer {self.admin}"}
            httpx.delete(f"{self.url}/v1/permissions/rules/{rule['id']}", headers=headers)

    def answer(self, workstream: str, token: str = "", **said: str) -> None:
        """Answer the approval that waits there."""
        request = self.waits(workstream)["pending_approvals"][0]["request_id"]
        body = {"resolutions": [{"request_id": request, "behavior": "allow", **said}]}
        self.ask(f"/v1/workstreams/{workstream}/approvals", body, token)

    def _token(self, name: str, role: str) -> str:
        self.ask("/v1/users", {"name": name, "role": role})
        return str(self.ask("/v1/tokens", {"name": name})["token"])

    def works(self, name: str, message: str, **options: str) -> str:
        """The id of a new workstream that works on this message."""
        made = self.ask("/v1/workstreams", {"name": name, "message": message, **options})
        return str(made["id"])

    def waits(self, workstream: str) -> dict[str, Any]:
        """The workstream, once it waits for a person."""
        return self.rests(workstream, "waiting")

    def rests(self, workstream: str, state: str = "idle") -> dict[str, Any]:
        """The workstream, once it is in this state."""
        end = time.monotonic() + SOON_MILLISECONDS / 1000
        while (view := self.look(f"/v1/workstreams/{workstream}"))["state"] != state:
            assert time.monotonic() < end, view
            time.sleep(0.05)
        return view


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
    page.set_default_timeout(SOON_MILLISECONDS)
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
