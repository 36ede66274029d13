"""Writes a notification as each channel shows it."""

import msgspec

from redshank_gateway.rendering.inert import escaped, inert_markdown, one_line, plain
from redshank_gateway.rendering.splitting import split

DISCORD = "discord"
DISCORD_CHARACTERS = 2000


class Notification(msgspec.Struct, frozen=True):
    """What to tell. `workstream`: who tells it, where that is known."""

    message: str
    title: str = ""
    workstream: str = ""


def written(notification: Notification, channel: str) -> tuple[str, ...]:
    """The texts to send, in order, each as long as the channel takes (T-43, F62)."""
    if channel == DISCORD:
        return split(_markdown(notification), DISCORD_CHARACTERS)
    return (_line(notification),)


def _markdown(notification: Notification) -> str:
    title = escaped(one_line(notification.title))
    lines = [f"**{title}**"] if title else []
    lines.append(inert_markdown(notification.message))
    if notification.workstream:
        lines.append(f"-# from workstream {escaped(one_line(notification.workstream))}")
    return "\n".join(lines)


def _line(notification: Notification) -> str:
    title, origin = one_line(notification.title), one_line(notification.workstream)
    head = f"[{origin}] " if origin else ""
    return f"{head}{f'{title}: ' if title else ''}{plain(notification.message)}"
