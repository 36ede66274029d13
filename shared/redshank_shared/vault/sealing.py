"""Seals values under a master key, each bound to its slot's name with its version."""

import base64
import binascii
import hashlib
from collections.abc import Callable

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from redshank_shared.domain.errors import Misconfigured

KEY_BYTES = 32
NONCE_BYTES = 12
KEY_FIELD = "vault.key_file"
_MAKE_ONE = "`openssl rand -base64 32` prints one"


class Sealed(msgspec.Struct, frozen=True):
    """A value that only a holder of the key `key_id` opens."""

    key_id: str
    text: str


class MasterKey:
    """One key of 32 bytes. Its text forms show its id only."""

    def __init__(self, key: bytes) -> None:
        self.key_id = hashlib.sha256(key).hexdigest()[:8]
        self._cipher = AESGCM(key)

    def __repr__(self) -> str:
        return f"MasterKey({self.key_id})"

    def seal(self, slot: str, version: int, value: str, nonce: bytes) -> Sealed:
        """The value, sealed. `nonce`: 12 random bytes, never the same twice."""
        sealed = self._cipher.encrypt(nonce, value.encode(), _bound_to(slot, version))
        return Sealed(self.key_id, base64.b64encode(nonce + sealed).decode())

    def open(self, slot: str, version: int, text: str) -> str | None:
        """The value; None where it was sealed for another slot, version or key, or was changed."""
        try:
            data = base64.b64decode(text, validate=True)
            nonce, sealed = data[:NONCE_BYTES], data[NONCE_BYTES:]
            return self._cipher.decrypt(nonce, sealed, _bound_to(slot, version)).decode()
        except (binascii.Error, InvalidTag, ValueError):
            return None


class Vault:
    """Seals under the first master key, opens with any of them.

    `read_keys` gives the keys as text: base64, one a line or with spaces between. It is asked again
    before every sealing and whenever a key is unknown, so that a key that was added is in use
    without a restart. Without keys (an empty text) nothing can be sealed or opened.
    """

    def __init__(self, read_keys: Callable[[], str]) -> None:
        self._read_keys = read_keys
        self._text: str | None = None
        self._keys: dict[str, MasterKey] = {}

    @property
    def key_ids(self) -> tuple[str, ...]:
        """The ids of all keys, the active one first; Misconfigured where one cannot be read."""
        return tuple(self._fresh())

    @property
    def active_key_id(self) -> str:
        """The id of the key that seals now; Misconfigured without one."""
        return self._active().key_id

    def seal(self, slot: str, version: int, value: str, nonce: bytes) -> Sealed:
        """The value under the active key; Misconfigured without one."""
        return self._active().seal(slot, version, value, nonce)

    def _active(self) -> MasterKey:
        for key in self._fresh().values():
            return key
        raise Misconfigured(
            f"no master key is set, so no secret can be kept: name a file that holds one with "
            f"{KEY_FIELD}; {_MAKE_ONE}",
            code="vault_without_key",
            field=KEY_FIELD,
        )

    def open(self, slot: str, version: int, sealed: Sealed) -> str:
        """The value; Misconfigured where its key is missing, or where it was not sealed for this
        slot.
        """
        key = self._keys.get(sealed.key_id) or self._fresh().get(sealed.key_id)
        if key is None:
            raise Misconfigured(
                f"{slot} is sealed under the master key {sealed.key_id}, {self._ours()}: add that "
                f"key to the file that {KEY_FIELD} names, behind the first line",
                code="vault_key_unknown",
                field=KEY_FIELD,
            )
        value = key.open(slot, version, sealed.text)
        if value is None:
            raise Misconfigured(
                f"{slot} does not open under its own key {sealed.key_id}: its row was changed "
                f"outside Redshank; set it again with `redshank secrets set {slot}`",
                code="secret_changed",
                field=slot,
            )
        return value

    def _ours(self) -> str:
        held = ", ".join(self._keys)
        return f"this process holds {held}" if held else "this process holds none"

    def _fresh(self) -> dict[str, MasterKey]:
        text = self._read_keys()
        if text != self._text:
            self._keys = {key.key_id: key for key in map(_key, key_texts(text))}
            self._text = text
        return self._keys


def key_texts(text: str) -> list[str]:
    """Each key's own text, for those who must keep it out of logs."""
    return text.replace(",", " ").split()


def _key(text: str) -> MasterKey:
    try:
        key = base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise Misconfigured(
            f"a master key is not {KEY_BYTES} bytes in base64: write one a line into the file that "
            f"{KEY_FIELD} names, the active one first; {_MAKE_ONE}",
            field=KEY_FIELD,
        )
    return MasterKey(key)


def _bound_to(slot: str, version: int) -> bytes:
    return f"redshank secret\n{slot}\n{version}".encode()
