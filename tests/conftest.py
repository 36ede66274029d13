"""What every test may ask for: real databases, a real Valkey; properties that no clock judges."""

import gc
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.redis_fixtures import *  # noqa: F403 - fixtures are found by name
from tests.store_fixtures import *  # noqa: F403 - fixtures are found by name

settings.register_profile(
    "unhurried", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")

USUAL_SECONDS = 120.0


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The thousands of tests found live to the end of the run: the collector of garbage does not
    look through them while they are found, nor ever after.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files whose tests may take longest come first, then those of many tests: where several
    workers share them, none is left over at the end.
    """
    tests = Counter(item.path for item in items)
    longest = dict.fromkeys(tests, USUAL_SECONDS)
    for item in items:
        if mark := item.get_closest_marker("timeout"):
            longest[item.path] = max(longest[item.path], float(mark.args[0]))

    def place(item: pytest.Item) -> tuple[float, int, Path]:
        return -longest[item.path], -tests[item.path], item.path

    items.sort(key=place)
