"""Facts about what an agent hands to people: kept files, previews, outputs."""

from typing import Literal

import msgspec

from redshank_shared.domain.fact import Fact

PreviewKind = Literal["web", "pdf", "image", "table", "text", "markdown"]


class StoredAsset(msgspec.Struct, frozen=True):
    """Bytes that are kept for a workstream: `digest` names them, `size` counts them."""

    digest: str
    media_type: str
    size: int
    name: str = ""


class AssetsStored(Fact, frozen=True, tag="assets.stored"):
    """A call kept these; the workstream refers to them from here on (K15, K16)."""

    call_id: str
    tool: str
    assets: tuple[StoredAsset, ...]


class PreviewOpened(Fact, frozen=True, tag="preview.opened"):
    """A person is shown this beside the conversation (T-33). `source` is the target as it was
    named; `shows` what the bytes are shown as.
    """

    shows: PreviewKind
    title: str
    digest: str
    source: str
    media_type: str
    size: int
    call_id: str = ""


class TextPart(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    text: str


class AssetPart(msgspec.Struct, frozen=True, tag_field="type", tag="asset"):
    """`asset_id` is a digest."""

    asset_id: str
    media_type: str = ""
    size: int = 0


class OutputEmitted(Fact, frozen=True, tag="output.emitted"):
    """What an agent delivers, in order (K14). `inline`: the assets are to be shown where they
    stand, not offered as files; `final`: the turn ends with it, with no parts without a word (C9).
    """

    call_id: str
    parts: tuple[TextPart | AssetPart, ...]
    inline: bool = False
    final: bool = False
