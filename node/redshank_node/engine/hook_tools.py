"""Says which tools the agents of hooks have."""

from collections.abc import Iterable, Mapping, Sequence

from redshank_node.tools.tool import Tool
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.hooks import Hook
from redshank_shared.settings.reading import nearest

# These read, yet what they do is done to a conversation, which such an agent has not.
_OF_A_CONVERSATION = frozenset({"open_file", "close_file", "read_sections", "tool_search"})

ToolsOfHooks = Mapping[str, tuple[Tool, ...]]


def tools_of_hooks(hooks: Iterable[Hook], tools: Sequence[Tool]) -> ToolsOfHooks:
    """The tools of each hook's agent, by the hook's name (K-79). Misconfigured names one that no
    such agent may have.

    It judges what is to be done, so it only reads: an effect of its own would have to be decided in
    turn, and words in what it judges could make it send on what it sees.
    """
    by_name = {name: tool for tool in tools for name in (tool.name, *tool.aliases)}
    found: dict[str, tuple[Tool, ...]] = {}
    for index, hook in enumerate(hooks):
        allowed: dict[str, Tool] = {}
        for name in hook.agent.tools if hook.agent else ():
            tool = by_name.get(name)
            if tool is None or not _may_have(tool):
                raise Misconfigured(
                    f"hook {hook.name}: {_objection(name, tool, by_name)}",
                    field=f"hooks[{index}].agent.tool_surface.allow",
                )
            allowed[tool.name] = tool
        found[hook.name] = tuple(allowed.values())
    return found


def _may_have(tool: Tool) -> bool:
    return tool.effect == "read" and tool.name not in _OF_A_CONVERSATION


def _objection(name: str, tool: Tool | None, by_name: Mapping[str, Tool]) -> str:
    may_have = ", ".join(sorted({each.name for each in by_name.values() if _may_have(each)}))
    if tool is None:
        return f"there is no tool {name}{nearest(name, by_name)}; it may have {may_have}"
    if tool.effect == "read":
        return (
            f"{name} belongs to a conversation, which an agent of a hook has not; "
            f"it may have {may_have}"
        )
    return (
        f"an agent of a hook only reads, and {name} does more (its effect is {tool.effect}); "
        f"it may have {may_have}; for anything else use command or url"
    )
