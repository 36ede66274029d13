"""Keeps values that must not be shown out of every text form."""

from urllib.parse import urlsplit, urlunsplit


class Secret:
    """A value that shows itself only to `reveal`; its text forms are masked."""

    def __init__(self, value: str = "") -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself, for the one who sends it."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "Secret(***)" if self._value else "Secret()"


def without_password(url: str) -> str:
    """A URL that may be shown: its password masked."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    user, _, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}:***@{host}"))
