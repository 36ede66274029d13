"""Fixtures for tests over HTTP against a whole cluster."""

from tests.fakes.cluster_fixtures import *  # noqa: F403 - fixtures are found by name
