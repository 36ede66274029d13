"""What the tools that make something due have in common: names, texts, targets."""

from typing import Any

from redshank_node.tools.support.refusals import on_argument
from redshank_node.tools.support.timing import times
from redshank_node.tools.tool import CallContext, Result
from redshank_shared.domain.cadence import Once
from redshank_shared.domain.commands import CreateSchedule
from redshank_shared.domain.decide import checked_text, storable_text

AGENT = "agent"
MESSAGE_PARAMETER: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "description": "What is read then.",
}
NAME_PARAMETER: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 200,
}
TARGET_PARAMETERS: dict[str, Any] = {
    "target": {
        "type": "string",
        "enum": ["self", "parent", "session", "agent"],
        "description": "Who reads the message. Default self.",
    },
    "target_id": {
        "type": "string",
        "minLength": 1,
        "description": "The workstream that target session or agent means.",
    },
}


def check_texts(arguments: dict[str, Any]) -> None:
    """Raises BadArguments unless `message` can be stored and sent, `name` too where it is there."""
    with on_argument("message"):
        checked_text(arguments["message"], "message")
    if "name" in arguments:
        with on_argument("name"):
            checked_text(arguments["name"], "name")


def check_storable(arguments: dict[str, Any], *names: str) -> None:
    """Raises BadArguments on the first of these arguments that holds what cannot be stored."""
    for name in names:
        with on_argument(name):
            storable_text(arguments.get(name, ""), name)


def schedule_id(context: CallContext) -> str:
    """The id of the schedule that this call makes: the same when the call is tried again."""
    return f"sch_{context.call_id.removeprefix('call_')}"


def name_of(arguments: dict[str, Any], context: CallContext) -> str:
    """The name that was given, else one that no other call has."""
    name: str = arguments.get("name", f"wake-{context.call_id.removeprefix('call_')}")
    return name


def wake(arguments: dict[str, Any], context: CallContext, at: float) -> Result:
    """One durable message at a moment (seconds since 1970); the turn goes on (K-22, K-23)."""
    name = name_of(arguments, context)
    return Result(
        f"{name} will speak at {times.shown_moment(at)}",
        command=CreateSchedule(
            schedule_id=schedule_id(context),
            name=name,
            cadence=Once(at),
            by=AGENT,
            message=arguments["message"],
            target=target_of(arguments, context),
        ),
    )


def objection_to_target(arguments: dict[str, Any], context: CallContext) -> str | None:
    """Why this call may not wake the target that it names, with the mend; None where it may (K-93).

    Session means the current one, agent the workstream itself or its parent.
    """
    target = arguments.get("target", "self")
    if target == "parent" and not context.parent:
        return "target: this workstream has no parent; leave target out to wake this one"
    may = [context.workstream_id]
    if target in ("parent", "agent") and context.parent:
        may.append(context.parent)
    target_id = arguments.get("target_id", may[-1] if target == "parent" else may[0])
    if target_id not in may or (target == "parent" and target_id != context.parent):
        return (
            f"target_id: {target_id} is not this workstream, which is all that target {target} "
            "may name here; leave target_id out"
        )
    return None


def target_of(arguments: dict[str, Any], context: CallContext) -> str:
    """The workstream that reads the message, of a call without objection; empty for its own."""
    if arguments.get("target") == "parent":
        return context.parent
    target_id: str = arguments.get("target_id", "")
    return "" if target_id == context.workstream_id else target_id
