"""Gives the calls of an answer their ids."""

from collections.abc import Callable

from redshank_node.providers.provider import Answer
from redshank_shared.domain.events import AskedCall


def asked_calls(
    answer: Answer, new_id: Callable[[str], str]
) -> tuple[tuple[AskedCall, ...], dict[str, str]]:
    """The calls in their order; by call id, what is wrong with some (F-40, F-46)."""
    asked = tuple(
        AskedCall(new_id("call"), call.tool, call.arguments, call.provider_id)
        for call in answer.calls
    )
    errors = {
        call.call_id: said.error
        for call, said in zip(asked, answer.calls, strict=True)
        if said.error
    }
    return asked, errors
