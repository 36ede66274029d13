"""Pauses a schedule."""

from redshank_node.tools.support.timing.schedule_change import changing

TOOL = changing(
    "schedule_pause",
    "Pause a schedule of this workstream until schedule_resume. The time that is left until it "
    "would have been due is kept.",
    "pause",
    "is paused; schedule_resume takes it up again",
)
