"""Finds the frontmatter that an edit leaves alone (C26, C37)."""

from redshank_shared.domain.roots import is_in

BLOCKS = "/blocks"
_SKILL = "SKILL.md"


def fence_of(path: str) -> str:
    """The line that begins and ends a file's frontmatter, empty for files that have none to keep.
    `path` is the file's key.
    """
    if path.rpartition("/")[2] == _SKILL:
        return "---"
    return "+++" if is_in(path, BLOCKS) and path.endswith(".md") else ""


def body_start(path: str, text: str) -> int:
    """Where the text behind the frontmatter begins, in characters; 0 where there is none."""
    fence = fence_of(path)
    lines = text.split("\n", 1)
    if not fence or len(lines) < 2 or lines[0].rstrip() != fence:
        return 0
    at = len(lines[0]) + 1
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line, at = text[at:end], end + 1
        if line.rstrip() == fence:
            return min(at, len(text))
    return 0
