"""Keeps the frontmatter of blocks or skills when they are written anew (C26)."""

import re
import tomllib

from redshank_node.tools.support.edits.frontmatter import BLOCKS, body_start, fence_of
from redshank_node.tools.tool import BadArguments
from redshank_shared.domain.roots import is_in

_YAML_KEY = re.compile(r"^([A-Za-z_][\w-]*):[ \t]*(.*)$", re.MULTILINE)


def with_frontmatter(path: str, before: str, content: str) -> str:
    """What to write: the content, behind the frontmatter that was there where it has none.

    `path` is the file's key; `before` is the text that is there now. BadArguments
    says what is wrong with the content's own frontmatter, or with the name of a block.
    """
    if is_in(path, BLOCKS) and not path.endswith(".md"):
        raise BadArguments(f"path: {path!r} is a block, whose name must end with .md")
    fence = fence_of(path)
    if not fence:
        return content
    start = body_start(path, content)
    if start:
        _check(fence, content[:start])
        return content
    if content.split("\n", 1)[0].rstrip() == fence:
        raise BadArguments(f"content: the frontmatter has no second {fence} line to end it")
    return before[: body_start(path, before)] + content


def _check(fence: str, frontmatter: str) -> None:
    inside = frontmatter.split("\n", 1)[1].rpartition(fence)[0]
    wanted = ("description",) if fence == "+++" else ("name", "description")
    for key in wanted:
        value = _toml(inside).get(key) if fence == "+++" else _yaml(inside).get(key)
        if not isinstance(value, str) or not value.strip():
            raise BadArguments(
                f"content: the frontmatter must have {key}, a text that says something"
            )


def _toml(text: str) -> dict[str, object]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise BadArguments(f"content: the frontmatter is no TOML: {wrong}") from None


def _yaml(text: str) -> dict[str, str]:
    """Its plain keys, which is all that is asked of them."""
    return {found[1]: found[2].strip().strip("'\"") for found in _YAML_KEY.finditer(text)}
