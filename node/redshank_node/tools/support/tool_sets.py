"""Derives sets of tools from what they declare (T-05)."""

from collections.abc import Iterable

from redshank_node.tools.tool import Tool
from redshank_shared.profiles.profile import Profile


def builtin_names(tools: Iterable[Tool]) -> frozenset[str]:
    """The canonical names of all of them."""
    return frozenset(tool.name for tool in tools)


def task_agent_tools(tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """Those that sub-agents may call."""
    return tuple(tool for tool in tools if tool.task_agent and not tool.top_level)


def task_auto_approved(tools: Iterable[Tool], profile: Profile) -> frozenset[str]:
    """The canonical names of those that a sub-agent's profile lets run without asking a person,
    whatever the call.
    """
    allowed = {
        card.canonical for card in profile.tools if card.default in ("", "allow") and not card.asks
    }
    return frozenset(tool.name for tool in task_agent_tools(tools) if tool.name in allowed)


def primary_keys(tools: Iterable[Tool]) -> dict[str, str]:
    """The argument that a bare string stands for, by canonical name (T-11)."""
    return {tool.name: tool.primary_key for tool in tools}
