"""What the API shows of previews."""

from redshank_shared.domain.artifact_events import PreviewKind
from redshank_shared.wire.views import View


class OpenedPreview(View):
    """What a person is shown beside the conversation (T-33). `digest` names its bytes:
    GET /v1/assets/{digest}; `source` is the target as the agent named it; `size` counts bytes.
    """

    seq: int
    at: str
    call_id: str
    kind: PreviewKind
    title: str
    digest: str
    source: str
    media_type: str
    size: int
