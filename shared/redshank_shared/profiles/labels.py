"""The label of a call: what a rule may name behind the tool with a colon (O14)."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from redshank_shared.permissions.rules import NETWORK
from redshank_shared.permissions.tool_card import PRIVATE, ToolCard


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
    if card.canonical == "web_fetch":
        return _inside(arguments.get("url"))
    if card.canonical == "bash":
        return NETWORK if arguments.get(NETWORK) is True else ""
    label = arguments.get(card.labelled_by, "") if card.labelled_by else ""
    return label if isinstance(label, str) else ""


def _inside(url: Any) -> str:
    """The label of a fetch that leads into a private network by its address alone (T-30): only a
    node looks names up.
    """
    try:
        host = urlsplit(url.strip()).hostname if isinstance(url, str) else None
    except ValueError:
        return ""
    if not host:
        return ""
    try:
        inside = ip_address(host).is_private
    except ValueError:
        inside = host == "localhost" or host.endswith(".localhost")
    return f"{PRIVATE}:{host}" if inside else ""
