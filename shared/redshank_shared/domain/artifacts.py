"""What an agent hands to people: command -> facts, or a refusal with the mend."""

from redshank_shared.domain.artifact_events import (
    AssetPart,
    AssetsStored,
    OutputEmitted,
    PreviewOpened,
    TextPart,
)
from redshank_shared.domain.commands import EmitOutput, OpenPreview, StoreAssets
from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.events import AnyFact, CallFinished, Recorded

PREVIEWS_KEPT = 20


def decide(command: OpenPreview | EmitOutput | StoreAssets) -> list[AnyFact]:
    """Record what was handed over; Invalid where an output is empty (K14)."""
    if isinstance(command, OpenPreview):
        return [
            PreviewOpened(
                command.shows,
                command.title,
                command.digest,
                command.source,
                command.media_type,
                command.size,
                command.call_id,
            )
        ]
    if isinstance(command, StoreAssets):
        return [AssetsStored(command.call_id, command.tool, command.assets)]
    said = any(isinstance(part, AssetPart) or part.text.strip() for part in command.parts)
    if not said and (command.parts or not command.final):
        raise Invalid(
            "the output is empty; give content, parts or artifact_ids",
            code="empty_output",
            field="content",
        )
    return [OutputEmitted(command.call_id, command.parts, command.inline, command.final)]


def with_preview(kept: tuple[Recorded, ...], opened: Recorded) -> tuple[Recorded, ...]:
    """The previews after one more: the last twenty, what is opened anew only once."""
    assert isinstance(opened.fact, PreviewOpened)
    others = [each for each in kept if not _is_same(each, opened.fact)]
    return (*others[1 - PREVIEWS_KEPT :], opened)


def _is_same(recorded: Recorded, opened: PreviewOpened) -> bool:
    fact = recorded.fact
    return isinstance(fact, PreviewOpened) and (fact.source, fact.shows) == (
        opened.source,
        opened.shows,
    )


def digests_of(fact: AnyFact) -> tuple[str, ...]:
    """The kept bytes that a fact refers to: they stay as long as its log does."""
    match fact:
        case CallFinished():
            shown = [image.digest for image in fact.images]
            return (*shown, fact.asset) if fact.asset else tuple(shown)
        case PreviewOpened():
            return (fact.digest,)
        case AssetsStored():
            return tuple(asset.digest for asset in fact.assets)
        case OutputEmitted():
            return tuple(part.asset_id for part in fact.parts if not isinstance(part, TextPart))
        case _:
            return ()
