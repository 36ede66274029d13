"""Profiles as HTTP clients get them."""

from redshank_shared.domain.events import Decision, Effect
from redshank_shared.wire.views import View


class ProfileToolView(View):
    """A tool under the name that the profile gives it. `asks`: the labels of calls that a person is
    asked about although the tool as such does not ask.
    """

    name: str
    canonical: str
    effect: Effect
    default: Decision
    plan: bool
    parallel: bool
    aliases: list[str]
    asks: list[str]


class DefaultRuleView(View):
    """A rule of the tier below all others."""

    pattern: str
    decision: Decision


class ProfileView(View):
    """A surface of tools. `rules` decide where no rule of session, project or user matches;
    `mcp_default` is what they amount to for the tools of MCP servers.
    """

    name: str
    title: str
    tools: list[ProfileToolView]
    rules: list[DefaultRuleView]
    mcp_default: Decision
