"""How many examples a property is shown on: some where a change lands, many in `make soak`."""

from redshank_shared.settings.environment import process_environment

_SOAK_FACTOR = 10


def examples(usual: int) -> int:
    """The usual number, or many times as many where SOAK is set."""
    return usual * _SOAK_FACTOR if process_environment().get("SOAK") else usual
