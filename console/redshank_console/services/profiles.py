"""Answers which profiles there are, what each exposes."""

from collections.abc import Mapping

from redshank_shared.domain.errors import Invalid, NotFound
from redshank_shared.profiles.own import check_default, own_profile
from redshank_shared.profiles.profile import Profile, install, known_profiles, load
from redshank_shared.settings.sections import ProfileSource
from redshank_shared.stores.paging import checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.wire.profile_views import DefaultRuleView, ProfileToolView, ProfileView
from redshank_shared.wire.views import PageView


def install_profiles(sources: Mapping[str, ProfileSource], default: str) -> None:
    """Make the operator's profiles known to this process, the default among them. Misconfigured
    names what to mend.
    """
    install(own_profile(name, source.file, source.defaults) for name, source in sources.items())
    check_default(default)


def profile_page(limit: int, cursor: str | None) -> PageView[ProfileView]:
    """Profiles in the order they ship, Redshank's own first. Invalid names limit or cursor."""
    start = decode_cursor(cursor, int) if cursor else 0
    known = known_profiles()
    names, more = cut(list(known[max(0, start) :]), checked_limit(limit))
    return PageView(
        items=[profile_view(name) for name in names],
        next_cursor=encode_cursor(start + limit) if more else None,
        total=len(known),
    )


def profile_view(name: str) -> ProfileView:
    """The profile of this name; NotFound names the nearest one."""
    try:
        return _view(load(name))
    except Invalid as unknown:
        raise NotFound(unknown.detail, code="profile_not_found", field="name") from unknown


def _view(profile: Profile) -> ProfileView:
    tools = [
        ProfileToolView(
            name=card.name,
            canonical=card.canonical,
            effect=card.effect,
            default=card.default or "allow",
            plan=card.plan,
            parallel=card.parallel,
            aliases=list(card.aliases),
            asks=list(card.asks),
        )
        for card in profile.tools
    ]
    return ProfileView(
        name=profile.name,
        title=profile.title,
        tools=tools,
        rules=[
            DefaultRuleView(pattern=rule.pattern, decision=rule.decision) for rule in profile.rules
        ],
        mcp_default=profile.mcp_default,
    )
