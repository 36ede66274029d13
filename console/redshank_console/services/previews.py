"""Shows what an agent opened beside its conversation."""

from redshank_shared.domain.artifact_events import PreviewOpened
from redshank_shared.domain.workstream import Workstream
from redshank_shared.wire.preview_views import OpenedPreview
from redshank_shared.wire.views import PageView


def previews_of(state: Workstream) -> PageView[OpenedPreview]:
    """The last twenty previews, the newest first."""
    items = [
        OpenedPreview(
            seq=recorded.seq,
            at=recorded.at,
            call_id=recorded.fact.call_id,
            kind=recorded.fact.shows,
            title=recorded.fact.title,
            digest=recorded.fact.digest,
            source=recorded.fact.source,
            media_type=recorded.fact.media_type,
            size=recorded.fact.size,
        )
        for recorded in reversed(state.previews)
        if isinstance(recorded.fact, PreviewOpened)
    ]
    return PageView(items=items, next_cursor=None, total=len(items))
