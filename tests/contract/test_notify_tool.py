"""The tool `notify`, as a call runs it: what it refuses, what it asks the log for."""

import pytest

from redshank_node.tools.tool import BadArguments
from redshank_shared.domain.commands import RequestNotification
from tests.contract.schedule_calls import SCHEDULE, call, prepared


@pytest.mark.req("T-43")
async def test_a_notification_is_asked_for_once_under_an_id_of_its_call() -> None:
    result = await call("notify", message="the build is red", username="ines", title="Build")
    assert result.command == RequestNotification(
        f"dl_{SCHEDULE[4:]}", "the build is red", "Build", "ines"
    )


@pytest.mark.req("T-43")
@pytest.mark.parametrize(
    "target",
    [{"username": "ines"}, {"channel_type": "discord", "channel_id": "42"}],
)
def test_a_message_goes_to_a_user_or_to_a_channel(target: dict[str, str]) -> None:
    given = {"message": "x" * 2000, "title": "Build", **target}
    assert prepared("notify", **given).arguments == given


@pytest.mark.req("T-43")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "a target is required: username, or channel_type with channel_id"),
        (
            {"username": "ines", "channel_type": "discord", "channel_id": "4"},
            "username goes without channel_type and channel_id; give one target",
        ),
        ({"username": "ines", "channel_id": "4"}, "username goes without channel_id"),
        ({"channel_type": "discord"}, "channel_id is required beside channel_type"),
        ({"channel_id": "4"}, "channel_type is required beside channel_id"),
        ({"username": "ines", "message": "x" * 2001}, "at most 2000 characters, not 2001"),
        ({"username": "ines", "message": " "}, "message must not be empty"),
        ({"username": "ines", "title": "a\0"}, "title holds a NUL at character 1"),
    ],
)
def test_both_targets_none_or_half_a_one_are_refused(arguments: dict[str, str], said: str) -> None:
    with pytest.raises(BadArguments, match=said):
        prepared("notify", **{"message": "hi", **arguments})
