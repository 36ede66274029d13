"""The gateway's settings: its links, where its secrets come from."""

from pathlib import Path

import pytest

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.load import load, secrets_of
from redshank_shared.settings.sections import ChannelLink, Settings

HOME = {"HOME": "/nonexistent"}


def loaded(tmp_path: Path, text: str, **environ: str) -> Settings:
    file = tmp_path / "redshank.toml"
    file.write_text(text)
    return load(file, {**HOME, **environ})


@pytest.mark.req("T-43")
def test_a_username_has_one_link_or_several(tmp_path: Path) -> None:
    text = (
        "[gateway.users]\n"
        "ines = { channel_type = 'discord', channel_id = '222' }\n"
        "tomasz = [{ channel_type = 'discord', channel_id = '223' }, "
        "{ channel_type = 'terminal', channel_id = '-' }]\n"
    )
    users = loaded(tmp_path, text).gateway.users
    assert users["ines"] == ChannelLink("discord", "222")
    assert users["tomasz"] == (ChannelLink("discord", "223"), ChannelLink("terminal", "-"))


def test_links_may_stand_in_the_environment() -> None:
    links = '{"ines": {"channel_type": "discord", "channel_id": "222"}}'
    users = load(None, {**HOME, "REDSHANK_GATEWAY__USERS": links}).gateway.users
    assert users == {"ines": ChannelLink("discord", "222")}


def test_a_link_without_a_place_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured) as caught:
        loaded(tmp_path, "[gateway.users]\nines = { channel_type = 'discord' }")
    assert caught.value.field == "gateway.users"


@pytest.mark.fault("F42")
def test_secrets_come_from_their_slots_unless_variables_are_named(tmp_path: Path) -> None:
    environ = {
        "REDSHANK_SLOT__GATEWAY_SERVICE": "from-the-slot",
        "REDSHANK_SLOT__GATEWAY_DISCORD": "token-of-the-slot",
        "MY_SECRET": "from-a-variable\n",
    }
    keys = loaded(tmp_path, "", **environ).gateway_keys
    assert keys.service_secret.reveal() == "from-the-slot"
    assert keys.discord_token.reveal() == "token-of-the-slot"
    named = loaded(tmp_path, "[gateway]\nservice_secret_env = 'MY_SECRET'", **environ)
    assert named.gateway_keys.service_secret.reveal() == "from-a-variable"


@pytest.mark.fault("F12")
def test_no_text_form_shows_the_gateways_secrets() -> None:
    environ = {
        **HOME,
        "REDSHANK_SLOT__GATEWAY_SERVICE": "canary-1",
        "REDSHANK_SLOT__GATEWAY_DISCORD": "canary-2",
    }
    settings = load(None, environ)
    assert "canary" not in repr(settings)
    assert {"canary-1", "canary-2"} <= set(secrets_of(settings))
