"""Fixtures that every test may ask for: real databases, a real Valkey."""

from tests.redis_fixtures import *  # noqa: F403 - fixtures are found by name
from tests.store_fixtures import *  # noqa: F403 - fixtures are found by name
