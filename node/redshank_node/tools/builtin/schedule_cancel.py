"""Ends a schedule for good."""

from redshank_node.tools.support.timing.schedule_change import changing

TOOL = changing(
    "schedule_cancel",
    "End a schedule, a wake or a watch of this workstream for good.",
    "cancel",
    "is canceled; it will not be due again",
)
