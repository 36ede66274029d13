"""Shows one schedule in full."""

from redshank_node.tools.support.refusals import refused
from redshank_node.tools.support.timing.schedule_change import REFERENCE, prepared_reference
from redshank_node.tools.support.timing.schedule_lines import in_full, named, scheduled_in
from redshank_node.tools.support.truncate import HeadAndTail
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The schedule with its message or command, its last output (K-23)."""
    reference = prepared.arguments["id"]
    known = await scheduled_in(context)
    found = named(reference, known)
    if not found:
        return refused(f"id: no schedule is called {reference}; schedule_list shows what there is")
    if len(found) > 1 and reference not in (found[0].schedule_id, found[0].name):
        names = ", ".join(each.name for each in found)
        return refused(f"id: {reference} begins the ids of several: {names}; name one of them")
    shown = HeadAndTail(context.max_output_bytes)
    shown.add(in_full(found[0]))
    text, truncated = shown.text()
    return Result(text, truncated=truncated)


TOOL = Tool(
    name="schedule_get",
    description="Show one schedule, wake or watch of this workstream in full.",
    parameters=REFERENCE,
    effect="read",
    prepare=prepared_reference,
    run=run,
    primary_key="id",
    parallel=True,
    plan=True,
)
