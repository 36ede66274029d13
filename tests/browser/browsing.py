"""A real Chromium for tests, driven over its own protocol."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from redshank_shared.settings.environment import process_environment

# Without the last five Chromium asks for hosts outside this machine at each start.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
ROOT = Path(__file__).parents[2]
AXE = ROOT / "console/web/node_modules/axe-core/axe.min.js"
ARTIFACTS = ROOT / "artifacts"
# What a page must come to show, it shows much sooner on a machine that has nothing else to do.
SOON_MILLISECONDS = 30_000
# WCAG 2.2 AA, with what it stands on.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window; skips where there is none, but fails in CI."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        assert not process_environment().get("CI"), "CI must install chromium (.ci/run does)"
        pytest.skip("no chromium on this machine: apt-get install chromium")
    expect.set_options(timeout=SOON_MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


def kept_shot(page: Page, name: str) -> None:
    """A screenshot under artifacts/, for people to look at."""
    ARTIFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTIFACTS / f"{name}.png")


def violations(page: Page) -> list[str]:
    """What axe finds wrong on the page as it is now: rule, then the first element."""
    page.evaluate(AXE.read_text())
    found = page.evaluate(
        "rules => axe.run(document, {runOnly: {type: 'tag', values: rules}})", RULES
    )
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in found["violations"]]
