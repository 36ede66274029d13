"""Knows which version this is."""

from importlib import metadata


def _installed() -> str:
    try:
        return metadata.version("redshank")
    except metadata.PackageNotFoundError:
        return "unknown"


VERSION = _installed()
