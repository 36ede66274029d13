"""Shows a tool as a profile has it: its arguments under other names, some of them preset."""

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from redshank_node.tools.support import schema
from redshank_node.tools.tool import (
    BadArguments,
    CallContext,
    Prepared,
    Result,
    SessionKind,
    Tool,
    Workspace,
)
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.profiles.profile import Exposure

_UNCHANGED = Exposure()


class Scene(msgspec.Struct, frozen=True):
    """For whom tools are shown, where their calls work: folders as descriptions name them, the
    workspace empty where none is configured (T-4).
    """

    kind: SessionKind = "interactive"
    working_dir: str = "."
    workspace_dir: str = ""


def of_kind(tools: Iterable[Tool], kind: SessionKind) -> tuple[Tool, ...]:
    """Those that sessions of this kind have (T-02). A tool for top-level workstreams stays with
    their children, where calling it says so.
    """
    return tuple(tool for tool in tools if _has(tool, kind))


def shown_in(tool: Tool, scene: Scene) -> Tool:
    """The tool as this scene's models read it: the overlay of its kind, notes about folders
    (T-03, T-04).
    """
    variant = tool.kind_variants.get(scene.kind)
    description = (variant.description if variant else "") or tool.description
    if tool.cwd_note:
        description += " " + tool.cwd_note.replace("{working_dir}", scene.working_dir)
    if tool.workspace_note and scene.workspace_dir:
        description += " " + tool.workspace_note.replace("{workspace_dir}", scene.workspace_dir)
    parameters = variant.parameters if variant and variant.parameters else tool.parameters
    if (description, parameters) == (tool.description, tool.parameters):
        return tool
    return msgspec.structs.replace(tool, description=description, parameters=parameters)


def exposed(tool: Tool, name: str, exposure: Exposure, *, parallel: bool | None = None) -> Tool:
    """The tool under a profile's exposure, for the shown name. Its own name stays: what is decided,
    recorded, counted goes by that. Misconfigured names the key of the profile to mend.
    """
    if parallel is not None and parallel != tool.parallel:
        tool = msgspec.structs.replace(tool, parallel=parallel)
    if exposure == _UNCHANGED:
        return tool
    _check(tool, name, exposure)
    options = {key: value for key, value in exposure.preset.items() if key in tool.options}
    given = {key: value for key, value in exposure.preset.items() if key not in options}
    hidden = {*given, *exposure.without}
    shown = _renamed(tool.parameters, exposure.rename, hidden)
    names = {own: seen for own, seen in exposure.rename.items() if "." not in own}

    def workspace_of(workspace: Workspace) -> Workspace:
        return msgspec.structs.replace(workspace, options=options) if options else workspace

    def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
        checked = schema.validated(arguments, shown)
        own = {**_own(checked, tool.parameters, exposure.rename), **given}
        try:
            return tool.prepare(own, workspace_of(workspace))
        except BadArguments as wrong:
            raise BadArguments(_in_shown_names(str(wrong), names)) from None

    async def run(prepared: Prepared, context: CallContext) -> Result:
        workspace = workspace_of(context.workspace)
        return await tool.run(prepared, msgspec.structs.replace(context, workspace=workspace))

    return msgspec.structs.replace(
        tool,
        parameters=shown,
        prepare=prepare,
        run=run if options else tool.run,
        primary_key=names.get(tool.primary_key, tool.primary_key),
    )


def _has(tool: Tool, kind: SessionKind) -> bool:
    if kind == "coordinator":
        return tool.coordinator
    if kind == "task_agent":
        return tool.task_agent
    return tool.interactive or not tool.coordinator


def _check(tool: Tool, name: str, exposure: Exposure) -> None:
    arguments = _paths(tool.parameters)
    required = tool.parameters.get("required", ())
    for own, seen in exposure.rename.items():
        _check_known(name, "rename", own, arguments)
        taken = own.rpartition(".")[0]
        beside = f"{taken}.{seen}" if taken else seen
        if beside in arguments and beside not in exposure.rename:
            raise _wrong(name, f"rename.{own}", f"is {seen}, which is another argument")
    for own in exposure.without:
        _check_known(name, "without", own, arguments)
        if own in required:
            raise _wrong(name, "without", f"leaves out {own}, which each call needs")
    properties = {**tool.parameters.get("properties", {}), **tool.options}
    for key, value in exposure.preset.items():
        _check_known(name, "preset", key, properties)
        try:
            schema.validated({key: value}, {"properties": {key: properties[key]}})
        except BadArguments as wrong:
            raise _wrong(name, f"preset.{key}", f"is of no use: {wrong}") from None


def _check_known(name: str, key: str, argument: str, known: Iterable[str]) -> None:
    known = tuple(known)
    if argument in known:
        return
    near = difflib.get_close_matches(argument, known, n=1)
    meant = f"did you mean {near[0]}?" if near else f"there are {', '.join(sorted(known))}"
    raise _wrong(name, f"{key}.{argument}", f"is no argument of the tool; {meant}")


def _wrong(name: str, key: str, what: str) -> Misconfigured:
    field = f"tools.{name}.{key}"
    return Misconfigured(f"{field} {what}", code="profile_invalid", field=field)


def _inside(described: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of the objects that a value is or holds."""
    items = described.get("items")
    return items if isinstance(items, Mapping) else described


def _paths(parameters: Mapping[str, Any], prefix: str = "") -> list[str]:
    found: list[str] = []
    for own, described in parameters.get("properties", {}).items():
        path = f"{prefix}{own}"
        found += [path, *_paths(_inside(described), f"{path}.")]
    return found


def _renamed(
    parameters: Mapping[str, Any],
    rename: Mapping[str, str],
    hidden: Iterable[str] = (),
    prefix: str = "",
) -> dict[str, Any]:
    """The schema with its properties under their shown names, without the hidden ones."""
    made = dict(parameters)
    hidden = frozenset(hidden)
    if "properties" in parameters:
        made["properties"] = {
            rename.get(f"{prefix}{own}", own): _renamed(
                described, rename, hidden, f"{prefix}{own}."
            )
            for own, described in parameters["properties"].items()
            if f"{prefix}{own}" not in hidden
        }
    if "required" in parameters:
        made["required"] = [
            rename.get(f"{prefix}{own}", own)
            for own in parameters["required"]
            if f"{prefix}{own}" not in hidden
        ]
    if isinstance(parameters.get("items"), Mapping):
        made["items"] = _renamed(parameters["items"], rename, hidden, prefix)
    return made


def _own(
    value: Any, described: Mapping[str, Any], rename: Mapping[str, str], prefix: str = ""
) -> Any:
    """The value with the tool's own names in place of the shown ones."""
    if isinstance(value, list):
        items = described.get("items", {})
        return [_own(item, items, rename, prefix) for item in value]
    if not isinstance(value, dict):
        return value
    properties = described.get("properties", {})
    own_of = {rename.get(f"{prefix}{own}", own): own for own in properties}
    made = {}
    for shown, item in value.items():
        own = own_of.get(shown, shown)
        made[own] = _own(item, properties.get(own, {}), rename, f"{prefix}{own}.")
    return made


def _in_shown_names(words: str, names: Mapping[str, str]) -> str:
    """A refusal begins with the argument's name: the one that the model knows."""
    for own, seen in names.items():
        words = re.sub(rf"^{re.escape(own)}\b", seen, words)
    return words
