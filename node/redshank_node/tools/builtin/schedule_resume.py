"""Takes a paused schedule up again."""

from redshank_node.tools.support.timing.schedule_change import changing

TOOL = changing(
    "schedule_resume",
    "Take a paused schedule up again. One with a moment or an interval goes on with the time that "
    "was left, a cron waits for its next match.",
    "resume",
    "is active again",
)
