"""What Discord's answers and events look like, as far as discord.py reads them."""

from typing import Any

BOT_ID, OWNER_ID = "111", "999"
GUILD_ID = "10"
BOT = {
    "id": BOT_ID,
    "username": "redshank",
    "discriminator": "0000",
    "avatar": None,
    "bot": True,
    "global_name": None,
    "public_flags": 0,
    "flags": 0,
    "verified": True,
    "mfa_enabled": False,
}


def user(user_id: str) -> dict[str, Any]:
    """A person."""
    return {
        "id": user_id,
        "username": f"user{user_id}",
        "discriminator": "0",
        "avatar": None,
        "bot": False,
        "global_name": None,
        "public_flags": 0,
    }


def application() -> dict[str, Any]:
    """What the bot belongs to."""
    return {
        "id": BOT_ID,
        "name": "redshank",
        "icon": None,
        "description": "",
        "summary": "",
        "bot_public": False,
        "bot_require_code_grant": False,
        "verify_key": "00",
        "flags": 0,
        "owner": user(OWNER_ID),
    }


def direct_channel(channel_id: str, user_id: str) -> dict[str, Any]:
    """The channel of a bot with one person."""
    return {
        "id": channel_id,
        "type": 1,
        "last_message_id": None,
        "recipients": [user(user_id)],
    }


def message(message_id: str, channel_id: str, asked: dict[str, Any]) -> dict[str, Any]:
    """A message of the bot's, as it was asked to be."""
    return {
        "id": message_id,
        "channel_id": channel_id,
        "author": BOT,
        "content": asked.get("content", ""),
        "timestamp": "2026-01-01T00:00:00+00:00",
        "edited_timestamp": None,
        "tts": False,
        "mention_everyone": False,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        "embeds": [],
        "components": [],
        "pinned": False,
        "type": 0,
        "flags": asked.get("flags", 0),
        "nonce": asked.get("nonce"),
    }


def ready(session_id: str, resume_url: str) -> dict[str, Any]:
    """The first event of a session."""
    return {
        "v": 10,
        "user": BOT,
        "guilds": [{"id": GUILD_ID, "unavailable": True}],
        "session_id": session_id,
        "resume_gateway_url": resume_url,
        "application": {"id": BOT_ID, "flags": 0},
        "private_channels": [],
        "relationships": [],
    }


def guild(channel_ids: list[str]) -> dict[str, Any]:
    """The one server that the bot is in, with its text channels."""
    channels: list[dict[str, Any]] = [
        {
            "id": channel_id,
            "type": 0,
            "name": f"channel-{channel_id}",
            "position": 0,
            "permission_overwrites": [],
            "nsfw": False,
            "parent_id": None,
        }
        for channel_id in channel_ids
    ]
    member = {
        "user": BOT,
        "roles": [],
        "joined_at": "2026-01-01T00:00:00+00:00",
        "deaf": False,
        "mute": False,
        "flags": 0,
    }
    empty = ("threads", "emojis", "stickers", "features", "presences", "voice_states")
    return {
        "id": GUILD_ID,
        "name": "guild",
        "icon": None,
        "owner_id": OWNER_ID,
        "roles": [],
        "channels": channels,
        "members": [member],
        **{name: [] for name in (*empty, "stage_instances", "guild_scheduled_events")},
        "soundboard_sounds": [],
        "member_count": 1,
        "large": False,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "premium_tier": 0,
        "premium_progress_bar_enabled": False,
        "preferred_locale": "en-US",
        "afk_timeout": 60,
        "system_channel_flags": 0,
        "unavailable": False,
    }
