"""Asks a real provider over real HTTP, for the tests of what comes back."""

from typing import Any

import msgspec
import pytest

from redshank_node.providers.choose import make
from redshank_node.providers.provider import (
    Answer,
    Delta,
    ModelFailed,
    ModelRequest,
    ModelSettings,
    Surface,
)
from redshank_shared.domain.messages import Message, ToolDescription, UserMessage
from tests.fakes.model_server import ModelServer

READ_FILE = ToolDescription(
    "read_file",
    "Reads a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
KEY = "sk-canary-7f3a9c"


def settings(server: ModelServer | str, wire: str, **changes: Any) -> ModelSettings:
    """Settings of a model at this server, in its wire's own form of address. The wire "responses"
    is that of models whose OpenAI server searches tools by itself.
    """
    url = server if isinstance(server, str) else server.url
    made = ModelSettings(
        name="main",
        provider="anthropic" if wire == "anthropic" else "openai",
        tool_search=wire == "responses",
        model="m",
        base_url=url if wire == "anthropic" else f"{url}/v1",
        api_key=KEY,
        timeout_seconds=10.0,
    )
    return msgspec.structs.replace(made, **changes)


def question(*messages: Message, system: str = "Be brief.") -> ModelRequest:
    """A request with one tool on its surface."""
    return ModelRequest(
        "ws_1", system, messages or (UserMessage(1, "Go."),), Surface("digest-1", (READ_FILE,))
    )


async def asked(
    server: ModelServer | str, wire: str, *messages: Message, **changes: Any
) -> tuple[Answer, list[Delta]]:
    """One attempt's answer and what was shown meanwhile. Raises ModelFailed."""
    provider = make(settings(server, wire, **changes))
    try:
        items = [item async for item in provider.stream(question(*messages))]
    finally:
        await provider.close()
    assert isinstance(items[-1], Answer)
    return items[-1], [item for item in items if isinstance(item, Delta)]


async def failed(server: ModelServer | str, wire: str, **changes: Any) -> ModelFailed:
    """The failure of one attempt."""
    with pytest.raises(ModelFailed) as caught:
        await asked(server, wire, **changes)
    assert KEY not in caught.value.detail
    return caught.value
