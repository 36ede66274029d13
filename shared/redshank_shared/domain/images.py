"""Images that a call's result holds, by what they are kept under."""

from typing import Literal

import msgspec

ImageType = Literal[
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/bmp",
    "image/tiff",
    "image/x-icon",
]


class KeptImage(msgspec.Struct, frozen=True):
    """`digest` is the asset's; `size` its bytes."""

    digest: str
    media_type: ImageType
    size: int
