"""Fixtures for tests in a browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.browsing import chromium
from tests.browser.people import People
from tests.fakes.cluster_fixtures import ClusterMaker


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for the tests of a file."""
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[People]:
    """A cluster of one node with people who look at it."""
    maker = ClusterMaker(tmp_path_factory.mktemp("cluster"))
    try:
        cluster = maker(nodes=1)
        (cluster.workspace / "backfill.py").write_text("hour = local(at)\nwrite(hour)\n")
        yield People(cluster)
    finally:
        maker.close()


@pytest.fixture
def clear(people: People) -> People:
    """The same where nothing waits for a person and no rule is stored."""
    people.clear()
    return people
