"""Lists the built-in tools."""

from redshank_node.tools.builtin import (
    bash,
    edit_file,
    grep_search,
    list_files,
    read_file,
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
)
