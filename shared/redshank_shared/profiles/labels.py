"""The label of a call: what a rule may name behind the tool with a colon (O14)."""

from collections.abc import Mapping
from typing import Any

from redshank_shared.permissions.tool_card import ToolCard


def label_of(card: ToolCard, arguments: Mapping[str, Any]) -> str:
    """What tells this call of the tool from its other calls, for a dry run that has no node to ask;
    "" where rules know no difference. A call with a broken argument has no label.
    """
    if card.canonical == "open_preview":
        target = arguments.get("target")
        is_url = isinstance(target, str) and target.strip().lower().startswith(
            ("http://", "https://")
        )
        return "url" if is_url else ""
    label = arguments.get(card.labelled_by, "") if card.labelled_by else ""
    return label if isinstance(label, str) else ""
