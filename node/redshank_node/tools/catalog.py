"""Lists the built-in tools."""

from redshank_node.tools.builtin import (
    bash,
    edit_file,
    grep_search,
    list_files,
    notify,
    read_file,
    schedule_cancel,
    schedule_create,
    schedule_get,
    schedule_list,
    schedule_pause,
    schedule_resume,
    schedule_trigger_now,
    wake_after,
    wake_at,
    watch,
    write_file,
)
from redshank_node.tools.tool import Tool

BUILTIN: tuple[Tool, ...] = (
    read_file.TOOL,
    list_files.TOOL,
    grep_search.TOOL,
    write_file.TOOL,
    edit_file.TOOL,
    bash.TOOL,
    wake_after.TOOL,
    wake_at.TOOL,
    schedule_create.TOOL,
    schedule_list.TOOL,
    schedule_get.TOOL,
    schedule_pause.TOOL,
    schedule_resume.TOOL,
    schedule_cancel.TOOL,
    schedule_trigger_now.TOOL,
    watch.TOOL,
    notify.TOOL,
)
