"""Holds what was measured against what is asked: printed always, failed on only when far off.

A shared machine is often several times slower than itself, so that a figure is read by people; what
is of another order is a fault that no noise explains.
"""

import sys

FAR_OFF = 8.0


def figure(what: str, measured: float, asked: float, unit: str) -> None:
    """Print the figure beside the most that is asked; fail where it is far off."""
    sys.stdout.write(f"\n{what}: {measured:.1f} {unit}, at most {asked:g} {unit} are asked\n")
    assert measured <= asked * FAR_OFF, f"{what}: {measured:.1f} {unit} is of another order"
