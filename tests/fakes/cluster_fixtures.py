"""Fixtures that start clusters, with their logs shown beside a failure."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.cluster import Cluster
from tests.store_fixtures import BRANDS, PostgresTemplate, migrated_file


class ClusterMaker:
    """Starts clusters in a test's folder; keeps them, to be ended."""

    def __init__(self, folder: Path) -> None:
        self.made: list[Cluster] = []
        self._folder = folder

    def __call__(self, database_url: str = "", **options: Any) -> Cluster:
        """A running cluster; over a migrated SQLite file of its own unless a database is named."""
        folder = self._folder / f"cluster-{len(self.made) + 1}"
        cluster = Cluster(folder, database_url or f"sqlite:///{folder}/redshank.db", **options)
        self.made.append(cluster)
        if not database_url:
            (folder / "redshank.db").write_bytes(migrated_file())
        cluster.start()
        return cluster

    def close(self) -> None:
        """End them all."""
        for cluster in self.made:
            cluster.close()


@pytest.fixture
def new_cluster(tmp_path: Path) -> Iterator[ClusterMaker]:
    """Starts clusters that end with the test."""
    maker = ClusterMaker(tmp_path)
    yield maker
    maker.close()


@pytest.fixture(params=BRANDS)
def each_database(request: pytest.FixtureRequest) -> str:
    """What a cluster is given to work over each brand: the address of a migrated database."""
    if request.param == "sqlite":
        return ""
    url: str = request.getfixturevalue("migrated_postgres_url")
    return url


@pytest.fixture(scope="module", params=BRANDS)
def cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """A cluster with two nodes and two consoles, on each database, for tests that kill nothing."""
    maker = ClusterMaker(tmp_path_factory.mktemp("cluster"))
    url = ""
    if request.param == "postgresql":
        template: PostgresTemplate = request.getfixturevalue("postgres")
        url = template.server.url(template.server.create_database(template.migrated()))
    try:
        yield maker(url, consoles=2)
    finally:
        maker.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Beside a failure stand the ends of the logs of the clusters that the test used."""
    report = yield
    if report.failed:
        used = item.funcargs.values()
        clusters = [each for each in used if isinstance(each, Cluster)]
        clusters += [
            each for maker in used if isinstance(maker, ClusterMaker) for each in maker.made
        ]
        report.sections += [("logs of the cluster", each.log_tails()) for each in clusters]
    return report
