"""Finds where a person is reached."""

from collections.abc import Mapping, Sequence

import msgspec

from redshank_shared.domain.errors import NotFound


class Target(msgspec.Struct, frozen=True):
    """One place of one channel."""

    channel_type: str
    channel_id: str

    def __str__(self) -> str:
        return f"{self.channel_type}:{self.channel_id}"


class Recipients:
    """The users' links, by username."""

    def __init__(self, links: Mapping[str, Sequence[Target]]) -> None:
        self._links = links

    def of(self, username: str) -> tuple[Target, ...]:
        """Every place that the user linked, each once (T-43); NotFound where there is none."""
        targets = tuple(dict.fromkeys(self._links.get(username, ())))
        if not targets:
            raise NotFound(
                f"no channel is linked to a user {username}: check the name, or link one under "
                f"[gateway.users]",
                code="unknown_user",
                field="username",
            )
        return targets
