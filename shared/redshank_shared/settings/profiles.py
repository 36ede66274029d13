"""Finds the profiles that the operator adds or changes."""

from collections.abc import Mapping
from typing import Any

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.reading import section_from
from redshank_shared.settings.sections import ProfileSource


def find_profiles(tables: Mapping[str, Any], where: str) -> dict[str, ProfileSource]:
    """`[profiles.NAME]` by NAME; Misconfigured names the key to mend. The files are not read."""
    return {name: _source(name, table, where) for name, table in tables.items()}


def _source(name: str, table: Any, where: str) -> ProfileSource:
    dotted = f"profiles.{name}"
    if not isinstance(table, dict):
        raise Misconfigured(f"{where}: write [{dotted}] with its keys below", field=dotted)
    source = section_from(ProfileSource, table, f"{where}: [{dotted}]", dotted)
    assert isinstance(source, ProfileSource)
    return source
