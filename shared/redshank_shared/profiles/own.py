"""Reads the profiles that an operator adds or changes."""

from collections.abc import Mapping
from pathlib import Path

from redshank_shared.domain.errors import Invalid, Misconfigured
from redshank_shared.domain.events import Decision
from redshank_shared.profiles.profile import (
    SHIPPED,
    Profile,
    load,
    read,
    shipped_profile,
    with_defaults,
)


def own_profile(name: str, file: str, defaults: Mapping[str, Decision]) -> Profile:
    """The profile of `[profiles.NAME]`: that of its file, else the shipped one, with other default
    decisions. Misconfigured names the field to mend.
    """
    shipped = name in SHIPPED
    field = f"profiles.{name}.file"
    if file and shipped:
        raise Misconfigured(
            f"{field}: the profile {name} ships with Redshank; give yours a name of its own",
            code="profile_invalid",
            field=field,
        )
    if not file and not shipped:
        raise Misconfigured(
            f"{field}: there is no profile {name}; name its file, or use one of "
            f"{', '.join(SHIPPED)}",
            code="profile_invalid",
            field=field,
        )
    profile = read(name, _text(file, field)) if file else shipped_profile(name)
    return with_defaults(profile, defaults)


def check_default(name: str) -> None:
    """Misconfigured where the profile of new workstreams is none that there is."""
    try:
        load(name)
    except Invalid as unknown:
        raise Misconfigured(
            f"default.profile: {unknown.detail}", code="unknown_profile", field="default.profile"
        ) from unknown


def _text(file: str, field: str) -> str:
    try:
        return Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(
            f"{field}: {file} cannot be read ({error})", code="profile_invalid", field=field
        ) from error
