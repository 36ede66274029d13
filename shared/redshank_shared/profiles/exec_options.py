"""What an operator sets for the exec tool: time, inline output, spill files, environment (C-5)."""

from typing import Annotated

import msgspec

Milliseconds = Annotated[int, msgspec.Meta(ge=1000)]
NotNegative = Annotated[int, msgspec.Meta(ge=0)]


class ExecOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """The exec table of tools.toml. `timeout`: milliseconds until a command is stopped; `inline`:
    whether output up to `inline_threshold_bytes` is returned as it is; what is longer goes into a
    file below `output_dir`, whose `preview_head` first lines and `preview_tail` last ones are
    shown, each of at most `max_preview_line_length` characters; `host_env_passthrough`: names of
    the node's variables that a command gets.
    """

    enabled: bool = False
    timeout: Milliseconds = 60000
    inline: bool = True
    inline_threshold_bytes: NotNegative = 16384
    output_dir: str = "/workspace/.exec-output"
    preview_head: NotNegative = 20
    preview_tail: NotNegative = 20
    max_preview_line_length: NotNegative = 1000
    host_env_passthrough: tuple[str, ...] = ()
