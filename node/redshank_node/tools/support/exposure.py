"""Shows a tool as a profile has it: its arguments under other names, some of them preset."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from redshank_node.tools.support import schema
from redshank_node.tools.support.shown_names import (
    in_shown_names,
    own_arguments,
    paths_of,
    shown_schema,
)
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
    """The tool as sessions of this scene's kind have it (T-03)."""
    variant = tool.kind_variants.get(scene.kind)
    if variant is None:
        return tool
    return msgspec.structs.replace(
        tool,
        description=variant.description or tool.description,
        parameters=variant.parameters or tool.parameters,
    )


def with_notes(tool: Tool, scene: Scene) -> Tool:
    """The tool with what it says of this scene's folders behind its description, whoever wrote
    that (T-04).
    """
    description = tool.description
    if tool.cwd_note:
        description += " " + tool.cwd_note.replace("{working_dir}", scene.working_dir)
    if tool.workspace_note and scene.workspace_dir:
        description += " " + tool.workspace_note.replace("{workspace_dir}", scene.workspace_dir)
    return msgspec.structs.replace(tool, description=description)


def exposed(tool: Tool, name: str, exposure: Exposure, *, parallel: bool | None = None) -> Tool:
    """The tool under a profile's exposure, for the shown name. Its own name stays: what is decided,
    recorded, counted goes by that. Misconfigured names the key of the profile to mend.
    """
    if parallel is not None and parallel != tool.parallel:
        tool = msgspec.structs.replace(tool, parallel=parallel)
    if exposure == _UNCHANGED:
        return tool
    if exposure.form:
        tool = _in_form(tool, name, exposure.form)
    _check(tool, name, exposure)
    options = {key: value for key, value in exposure.preset.items() if key in tool.options}
    given = {key: value for key, value in exposure.preset.items() if key not in options}
    shown = shown_schema(tool.parameters, exposure, given)

    def workspace_of(workspace: Workspace) -> Workspace:
        return msgspec.structs.replace(workspace, options=options) if options else workspace

    def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
        checked = schema.validated(arguments, shown)
        own = {**own_arguments(checked, tool.parameters, exposure), **given}
        try:
            return tool.prepare(own, workspace_of(workspace))
        except BadArguments as wrong:
            raise BadArguments(in_shown_names(str(wrong), exposure)) from None

    async def run(prepared: Prepared, context: CallContext) -> Result:
        workspace = workspace_of(context.workspace)
        result = await tool.run(prepared, msgspec.structs.replace(context, workspace=workspace))
        if not result.is_error:
            return result
        return msgspec.structs.replace(result, output=in_shown_names(result.output, exposure))

    return msgspec.structs.replace(
        tool,
        description=exposure.description or in_shown_names(tool.description, exposure),
        parameters=shown,
        prepare=prepare,
        run=run,
        primary_key=_primary_key(tool, shown, exposure),
    )


def _in_form(tool: Tool, name: str, form: str) -> Tool:
    shape = tool.forms.get(form)
    if shape is None:
        there = ", ".join(sorted(tool.forms)) or "none"
        raise _wrong(name, "form", f"is {form}, which the tool has not; it has {there}")
    return msgspec.structs.replace(
        tool,
        description=shape.description,
        parameters=shape.parameters,
        prepare=shape.prepare,
        primary_key=shape.primary_key,
    )


def _primary_key(tool: Tool, shown: Mapping[str, Any], exposure: Exposure) -> str:
    """The shown name of the tool's own, or the first that a call needs where that one is hidden."""
    name = exposure.rename.get(tool.primary_key, tool.primary_key)
    there = (name, *shown.get("required", ()), *shown["properties"])
    return next((each for each in there if each in shown["properties"]), name)


def _has(tool: Tool, kind: SessionKind) -> bool:
    if kind == "coordinator":
        return tool.coordinator
    if kind == "task_agent":
        return tool.task_agent
    return tool.interactive or not tool.coordinator


def _check(tool: Tool, name: str, exposure: Exposure) -> None:
    arguments = paths_of(tool.parameters)
    _check_names(name, exposure, arguments)
    for own, seen in exposure.rename.items():
        taken = own.rpartition(".")[0]
        beside = f"{taken}.{seen}" if taken else seen
        if beside in arguments and beside not in exposure.rename:
            raise _wrong(name, f"rename.{own}", f"is {seen}, which is another argument")
    for own in exposure.without:
        if own in tool.parameters.get("required", ()):
            raise _wrong(name, "without", f"leaves out {own}, which each call needs")
    properties = {**tool.parameters.get("properties", {}), **tool.options}
    for key, value in exposure.preset.items():
        _check_known(name, "preset", key, properties)
        try:
            schema.validated({key: value}, {"properties": {key: properties[key]}})
        except BadArguments as wrong:
            raise _wrong(name, f"preset.{key}", f"is of no use: {wrong}") from None


def _check_names(name: str, exposure: Exposure, arguments: Iterable[str]) -> None:
    named: dict[str, Iterable[str]] = {
        "rename": exposure.rename,
        "without": exposure.without,
        "require": exposure.require,
        "values": exposure.values,
        "describe": exposure.describe,
    }
    for key, names in named.items():
        for own in names:
            _check_known(name, key, own, arguments)


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
