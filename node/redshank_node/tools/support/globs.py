"""Matches relative paths against glob patterns."""

import re
from collections.abc import Callable

from redshank_node.tools.tool import BadArguments

_PARTS = re.compile(r"\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|\{[^{}]*\}|.", re.DOTALL)


def glob_match(pattern: str, argument: str = "pattern") -> Callable[[str], bool]:
    """Whether a path matches: `*` and `?` within a name, `**` across folders, `[...]`, `{a,b}`.

    A pattern without a slash is matched with the last name of the path. Raises BadArguments that
    names the argument.
    """
    anywhere = "/" not in pattern
    try:
        compiled = re.compile(_regex(pattern.removeprefix("./").removeprefix("/")), re.DOTALL)
    except re.error as error:
        raise BadArguments(
            f"{argument} is no glob pattern ({error}); write it like '**/*.py'"
        ) from None
    return lambda path: bool(compiled.fullmatch(path.rpartition("/")[2] if anywhere else path))


def _regex(pattern: str) -> str:
    return "".join(_part(found.group()) for found in _PARTS.finditer(pattern))


def _part(part: str) -> str:
    match part[0]:
        case "*":
            return {"*": "[^/]*", "**": ".*", "**/": "(?:.*/)?"}[part]
        case "?":
            return "[^/]"
        case "[" if len(part) > 2:
            inner = part[1:-1].replace("\\", r"\\")
            return f"[^/{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
        case "{" if part.endswith("}"):
            return f"(?:{'|'.join(_regex(choice) for choice in part[1:-1].split(','))})"
        case _:
            return re.escape(part)
