"""Which images of a result a request shows, as base64 text."""

import base64
from collections.abc import Mapping

from redshank_shared.domain.images import ImageType, KeptImage
from redshank_shared.domain.messages import Message, ResultMessage

# What the servers of OpenAI, of Anthropic take; others decode whatever their image library does.
WEB_TYPES: frozenset[ImageType] = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))


def seen(
    message: Message, bodies: Mapping[str, bytes], types: frozenset[ImageType] | None = None
) -> tuple[KeptImage, ...]:
    """The images of this message whose bytes the request brings along, of these types only."""
    if not isinstance(message, ResultMessage):
        return ()
    return tuple(
        image
        for image in message.images
        if image.digest in bodies and (types is None or image.media_type in types)
    )


def text_of(image: KeptImage, bodies: Mapping[str, bytes]) -> str:
    """The image's bytes in base64."""
    return base64.b64encode(bodies[image.digest]).decode()
