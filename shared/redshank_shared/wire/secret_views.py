"""What HTTP clients send about secrets, what they get: never a value back."""

from typing import Annotated, Literal

from pydantic import Field

from redshank_shared.wire.requests import Body
from redshank_shared.wire.views import View


class NewSecret(Body):
    """The value that a slot shall hold."""

    value: Annotated[str, Field(repr=False)]


class SecretView(View):
    """A slot by its name. `version` counts its values with its revocations; `key_id`: the master
    key that it is sealed under, empty where it is revoked.
    """

    slot: str
    state: Literal["live", "revoked"]
    version: int
    key_id: str
    updated_by: str
    updated_at: str


class RotationView(View):
    """`resealed`: slots that are now under the key `key_id`; `left`: those that no key opens."""

    key_id: str
    resealed: list[str]
    left: list[str]
