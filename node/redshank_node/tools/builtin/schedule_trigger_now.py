"""Lets a schedule fire at once, beside its cadence."""

from redshank_node.tools.support.timing.schedule_change import changing

TOOL = changing(
    "schedule_trigger_now",
    "Let a schedule fire at once. Its next due time stays as it is.",
    "trigger",
    "fires now; its next due time stays",
)
