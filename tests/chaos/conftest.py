"""Fixtures for tests that kill things."""

from tests.fakes.cluster_fixtures import *  # noqa: F403 - fixtures are found by name
