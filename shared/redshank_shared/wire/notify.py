"""What a node asks of a gateway, what it answers."""

from typing import Literal

import msgspec

from redshank_shared.domain.errors import Invalid

LONGEST_MESSAGE = 2000
LONGEST_TITLE = 200
LONGEST_NAME = 128
DeliveryStatus = Literal["sent", "no_adapter", "timeout", "failed"]


class NotifyRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The body of `POST /v1/api/notify`: one message for one user or one channel (T-43)."""

    message: str
    username: str | None = None
    channel_type: str | None = None
    channel_id: str | None = None
    title: str | None = None
    workstream: str | None = None


class TargetResult(msgspec.Struct, frozen=True):
    """What became of one target, written `channel_type:channel_id`."""

    target: str
    status: DeliveryStatus


class NotifyAnswer(msgspec.Struct, frozen=True):
    results: tuple[TargetResult, ...]


def check_request(request: NotifyRequest) -> None:
    """Invalid, which names the field, unless the message has 1 to 2000 characters (code points)
    for either a username or a channel_type with a channel_id (T-43).
    """
    if not request.message.strip():
        raise Invalid("message is empty: say what to tell", field="message")
    _check_length("message", request.message, LONGEST_MESSAGE)
    _check_target(request)
    _check_length("title", request.title, LONGEST_TITLE)
    for name in ("username", "channel_type", "channel_id", "workstream"):
        value = getattr(request, name)
        _check_length(name, value, LONGEST_NAME)
        if value is not None and (not value.isprintable() or not value.strip()):
            raise Invalid(f"{name} must be printable text on one line", field=name)


def _check_target(request: NotifyRequest) -> None:
    channel = (request.channel_type, request.channel_id)
    if request.username is not None:
        if channel != (None, None):
            raise Invalid(
                "username stands beside channel_type or channel_id: give one target, a username "
                "or a channel_type with a channel_id",
                field="username",
            )
    elif channel == (None, None):
        raise Invalid(
            "there is no target: give username, or channel_type with channel_id", field="username"
        )
    elif None in channel:
        missing = "channel_type" if request.channel_type is None else "channel_id"
        raise Invalid(f"{missing} is missing: a channel needs both", field=missing)


def _check_length(name: str, value: str | None, longest: int) -> None:
    if value is not None and len(value) > longest:
        raise Invalid(
            f"{name} has {len(value)} characters; it takes {longest}: shorten it", field=name
        )
