"""A person's first visit: in by the link, a message, an approval, a reload: the same picture."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.browsing import kept_shot, violations
from tests.e2e.redshank_up import Home, Up

WORDS = "the water rises over the flats and the birds go up"
SIGN_IN = re.compile(r"http://\S+/#/signin\?code=\S+")
# What the conversation says, without the clock times that go on by themselves.
STORY = r"""() => [...document.querySelectorAll('ol.log > li')].map(item =>
    item.innerText.replace(/\d+(\.\d+)? ?(ms|s|min)\b/g, '').replace(/\s+/g, ' ').trim())"""


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    home = Home(tmp_path_factory.mktemp("home"))
    (home.workspace / "README.md").write_text("# Marsh\nThe tide comes in at noon.\n")
    with home.up() as started:
        yield started.ready()


def send(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_role("button", name="Send").click()


def rests(page: Page) -> None:
    expect(page.locator("header").get_by_text("idle").first).to_be_visible()


@pytest.mark.req("B-29", "B-31")
@pytest.mark.fault("F38")
@pytest.mark.parametrize(("theme", "width", "height"), [("light", 1440, 900), ("dark", 390, 844)])
def test_first_visit(browser: Browser, up: Up, theme: str, width: int, height: int) -> None:
    link = SIGN_IN.search(up.text)
    assert link
    look = "light" if theme == "light" else "dark"
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=look,  # type: ignore[arg-type] # a literal by construction
    )
    page = context.new_page()
    address = link[0] if theme == "light" else fresh_link(up)
    page.goto(address)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    ask_for_a_command(page, theme)
    card = page.get_by_label("Approval: bash", exact=False)
    expect(card).to_be_visible()
    assert violations(page) == []
    kept_shot(page, f"approval-{theme}")
    before = page.evaluate(STORY)
    page.reload()
    expect(card).to_be_visible()
    assert page.evaluate(STORY) == before

    card.get_by_role("button", name="Allow once").click()
    rests(page)
    written = up_workspace(up) / ("a.txt" if theme == "light" else "b.txt")
    assert written.read_text() == ("hi\n" if theme == "light" else "phone\n")

    reload_in_mid_stream(page)
    told = page.evaluate(STORY)
    page.reload()
    rests(page)
    page.get_by_text(WORDS).last.wait_for()
    assert page.evaluate(STORY) == told
    assert violations(page) == []
    kept_shot(page, f"first-visit-{theme}")
    context.close()


def ask_for_a_command(page: Page, theme: str) -> None:
    """The first visitor meets the first-run page, the second goes on in what is there."""
    if theme == "dark":
        page.goto(f"{page.url.split('#')[0]}#/workstreams")
        page.get_by_text("read: README.md").first.click()
        send(page, "run: echo phone > b.txt")
        return
    page.get_by_label("First message").fill("read: README.md\nrun: echo hi > a.txt")
    assert violations(page) == []
    kept_shot(page, "first-run-light")
    page.get_by_role("button", name="Send").click()


def reload_in_mid_stream(page: Page) -> None:
    """The text so far is there again after the reload, then the rest of it."""
    send(page, f"slow: 3 {WORDS}")
    expect(page.get_by_text("the water rises").last).to_be_visible()
    page.reload()
    expect(page.get_by_text(WORDS).last).to_be_visible()
    rests(page)


def up_workspace(up: Up) -> Path:
    return up.output.parent / "workspace"


def fresh_link(up: Up) -> str:
    """A link good for one more sign-in, as `redshank signin` asks for it."""
    token = (up.output.parent / "data" / "admin.token").read_text().strip()
    used = SIGN_IN.search(up.text)
    assert used
    answer = httpx.post(
        f"{used[0].split('/#/')[0]}/v1/signin-links",
        headers={"Authorization": f"Bearer {token}"},
        json={},
    )
    return str(answer.raise_for_status().json()["url"])
