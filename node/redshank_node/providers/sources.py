"""Keeps what a model says it found on the web, where its own provider searched."""

from typing import Any

_MOST = 20


class Sources:
    """The pages that an answer cites, each once, in the order they were named."""

    def __init__(self) -> None:
        self._titles: dict[str, str] = {}

    def add(self, citation: Any) -> None:
        """Take a citation of a page; anything else is passed over."""
        if not isinstance(citation, dict):
            return
        cited = citation.get("url_citation", citation)
        url = cited.get("url") if isinstance(cited, dict) else None
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            return
        title = cited.get("title")
        line = " ".join(title.split())[:200] if isinstance(title, str) else ""
        if url.isprintable() and len(self._titles) < _MOST:
            self._titles.setdefault(url, line)

    def behind(self, text: str) -> str:
        """The text with a list of its sources, where it names some."""
        if not text or not self._titles:
            return text
        lines = [
            f"- {title}: {url}" if title else f"- {url}" for url, title in self._titles.items()
        ]
        return "\n".join([f"{text}\n", "Sources:", *lines])
