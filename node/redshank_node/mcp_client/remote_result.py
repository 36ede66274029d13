"""Makes a call's result of what an MCP server answered: bounded, labelled, its bytes kept."""

import asyncio
import base64
from collections.abc import Awaitable

from redshank_node.mcp_client.bounded import (
    MOST_BINARY_CHARACTERS,
    Binary,
    Form,
    Part,
    parts,
    whole,
)
from redshank_node.mcp_client.calling import (
    AudioContent,
    Called,
    EmbeddedResource,
    ImageContent,
)
from redshank_node.mcp_client.failures import CallTimedOut, McpFailure, OutcomeUnknown
from redshank_node.mcp_client.harmless import bounded_text, untrusted
from redshank_node.tools.support.files.textfiles import image_kind
from redshank_node.tools.support.media import image_sizes
from redshank_node.tools.support.media.whole_images import MOST_PIXELS, is_whole
from redshank_node.tools.tool import CallContext, ImagePart, Result
from redshank_shared.domain.artifact_events import StoredAsset
from redshank_shared.domain.commands import StoreAssets
from redshank_shared.domain.errors import Unavailable

# Providers refuse larger images, and a refused image fails every further question.
_MOST_SHOWN_BYTES = 5 * 1024 * 1024
_MOST_KEPT_BYTES = 16 * 1024 * 1024
_SLOW_CHARACTERS = 256 * 1024
_MOST_CAUSE_CHARACTERS = 2048


async def result_of(
    answer: Awaitable[Called], server: str, tool: str, context: CallContext, form: Form = "text"
) -> Result:
    """The result of asking a server; its failure is a result too, which names server and cause.
    `tool`: the canonical name of what was called.
    """
    try:
        called = await answer
    except OutcomeUnknown as lost:
        return Result(
            f"Outcome unknown: {_said(lost)}. It was not sent again. Look at what it did before "
            "you repeat it.",
            is_error=True,
            outcome="error",
        )
    except CallTimedOut as late:
        return Result(
            f"{_said(late)}. It may have had its effect: look before you repeat it.",
            is_error=True,
            outcome="timeout",
        )
    except McpFailure as failed:
        return Result(_said(failed), is_error=True, outcome="error")
    return await _Answered(server, tool, context, form).result(called)


def _said(failure: McpFailure) -> str:
    return bounded_text(str(failure), _MOST_CAUSE_CHARACTERS).rstrip(".")


class _Answered:
    def __init__(self, server: str, tool: str, context: CallContext, form: Form) -> None:
        self._server, self._tool, self._context, self._form = server, tool, context, form
        self._images: list[ImagePart] = []
        self._assets: list[StoredAsset] = []
        self._kept_bytes = 0

    async def result(self, called: Called) -> Result:
        if _weight(called) > _SLOW_CHARACTERS:
            found = await asyncio.to_thread(parts, called, self._form)
        else:
            found = parts(called, self._form)
        texts = [await self._told(part) for part in found.said]
        text = whole(texts, found.structured) or "[the server answered nothing]"
        command = None
        if self._assets:
            command = StoreAssets(self._context.call_id, self._tool, tuple(self._assets))
        return Result(
            untrusted(text, self._server, self._context.call_id),
            is_error=called.is_error,
            outcome="error" if called.is_error else "ok",
            images=tuple(self._images),
            command=command,
        )

    async def _told(self, part: Part) -> str:
        """The words that stand for a part; bytes are kept where they can be."""
        if isinstance(part, str):
            return part
        about = f"{part.what} {part.media_type}, {len(part.body)} bytes"
        self._kept_bytes += len(part.body)
        if self._kept_bytes > _MOST_KEPT_BYTES:
            return f"[{about}, not kept: a result holds at most {_MOST_KEPT_BYTES} bytes]"
        image = self._image(part)
        if image is not None:
            self._images.append(image)
            return f"[{about}]"
        if self._context.artifacts is None:
            return f"[{about}, not kept]"
        try:
            kept = await self._context.artifacts.keep(part.body, part.media_type)
        except Unavailable:
            return f"[{about}, not kept: the store does not answer]"
        name = f"{self._tool}-{len(self._assets) + 1}"
        self._assets.append(StoredAsset(kept.digest, part.media_type, len(kept.body), name))
        return f"[{about}, kept as {kept.digest}]{_written(part)}"

    def _image(self, part: Binary) -> ImagePart | None:
        """The image for a model that sees; None for what only says that it is one, for what a
        model's server would refuse, this question and every later one.
        """
        if not part.shown or len(part.body) > _MOST_SHOWN_BYTES:
            return None
        kind = image_kind(part.body)
        if not kind:
            return None
        pixels = image_sizes.pixels(kind, part.body)
        if pixels is None or max(pixels) > MOST_PIXELS or not is_whole(kind, part.body):
            return None
        return ImagePart(image_sizes.MEDIA_TYPES[kind], part.body)


def _written(part: Binary) -> str:
    """A resource's bytes in base64 where they are few (T-75)."""
    if part.what != "resource" or len(part.body) > MOST_BINARY_CHARACTERS // 4 * 3:
        return ""
    return "\n" + base64.b64encode(part.body).decode()


def _weight(called: Called) -> int:
    """How many characters of base64 are to be read."""
    weight = 0
    for item in called.content:
        match item:
            case ImageContent() | AudioContent():
                weight += len(item.data)
            case EmbeddedResource():
                weight += len(item.blob)
    return weight
