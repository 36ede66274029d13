"""Finds the secrets that the gateway's settings lead to."""

from collections.abc import Mapping

from redshank_shared.settings.environment import slot_variable
from redshank_shared.settings.secret import Secret
from redshank_shared.settings.sections import Gateway, GatewayKeys


def find_keys(gateway: Gateway, environ: Mapping[str, str]) -> GatewayKeys:
    """The secret that our processes sign with, Discord's token; empty where there is none."""
    discord = gateway.discord
    return GatewayKeys(
        service_secret=_found(gateway.service_secret_env, gateway.service_secret_slot, environ),
        discord_token=_found(discord.token_env, discord.token_slot, environ),
    )


def _found(variable: str, slot: str, environ: Mapping[str, str]) -> Secret:
    name = variable or (slot_variable(slot) if slot else "")
    return Secret(environ.get(name, "").strip())
