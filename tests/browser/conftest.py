"""Fixtures for tests in a browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.browsing import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for the tests of a file."""
    with chromium() as opened:
        yield opened
