"""Says to OpenAPI what answers look like; the answers themselves are encoded once, by hand."""

from typing import Any

from redshank_shared.wire.problems import PROBLEM_TYPE, Problem

_PROBLEM = {
    "model": Problem,
    "description": "What is wrong, and the mend",
    "content": {PROBLEM_TYPE: {}},
}


def answers(status: int, model: Any, description: str = "As it is now") -> dict[int | str, Any]:
    """This model under this status, a problem otherwise."""
    return {status: {"model": model, "description": description}, "default": _PROBLEM}


def answers_of_type(media_type: str, description: str) -> dict[int | str, Any]:
    """200 with a body of this type, a problem otherwise."""
    return {200: {"content": {media_type: {}}, "description": description}, "default": _PROBLEM}
