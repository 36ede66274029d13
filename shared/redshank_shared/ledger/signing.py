"""The Ed25519 keys that sign the ledger: made, read from a file, checked against."""

import base64
import binascii
import hashlib
import os
import stat
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from redshank_shared.domain.errors import Misconfigured

FIELD = "ledger.key_file"
_MAKE_ONE = "make one with `openssl genpkey -algorithm ed25519 -out FILE; chmod 600 FILE`"


class SigningKey:
    """A private key that shows nothing but what it signed, its public half and its id.

    `public_key`: 32 bytes in base64; `key_id`: the first 16 hex digits of their SHA-256.
    """

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        public = private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.public_key = base64.b64encode(public).decode()
        self.key_id = key_id_of(public)

    def sign(self, text: str) -> str:
        """The signature of this text, in base64."""
        return base64.b64encode(self._private.sign(text.encode())).decode()

    def pem(self) -> bytes:
        """The private key as a file holds it: PKCS 8, without a password."""
        return self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def new_key() -> SigningKey:
    """A key that nobody had before."""
    return SigningKey(Ed25519PrivateKey.generate())


def key_of_process(key_file: str) -> SigningKey:
    """The key in this file; where none is named a fresh one, which ends with the process."""
    return read_key(Path(key_file).expanduser()) if key_file else new_key()


def make_key_file(path: Path) -> None:
    """A file with a new key (mode 0600), unless the file is there; Misconfigured if it cannot be
    written.
    """
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(new_key().pem())
    except FileExistsError:
        return
    except OSError as error:
        raise _unusable(path, f"cannot be written ({error.strerror})", "name another") from error


def read_key(path: Path) -> SigningKey:
    """The key in this file; Misconfigured (field `ledger.key_file`) where there is none, or where
    others than its owner may read it. A file of root's may be open to its group, as a mounted
    Secret is.
    """
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            pem = file.read(65536)
    except OSError as error:
        raise _unusable(path, f"cannot be read ({error.strerror})", _MAKE_ONE) from error
    allowed = 0o740 if found.st_uid == 0 and os.geteuid() != 0 else 0o700
    if stat.S_IMODE(found.st_mode) & ~allowed:
        mode = f"{stat.S_IMODE(found.st_mode):04o}"
        raise _unusable(path, f"is open to others (mode {mode})", f"run `chmod 600 {path}`")
    try:
        private = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _unusable(path, "holds no private key in PEM without password", _MAKE_ONE) from error
    if not isinstance(private, Ed25519PrivateKey):
        raise _unusable(path, "holds a key of another kind than Ed25519", _MAKE_ONE)
    return SigningKey(private)


def key_id_of(public: bytes) -> str:
    """The first 16 hex digits of the SHA-256 of a public key's 32 bytes."""
    return hashlib.sha256(public).hexdigest()[:16]


def has_signed(public_key: str, text: str, signature: str) -> bool:
    """Whether the key with this public half (base64) signed this text."""
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public_key, validate=True))
        key.verify(base64.b64decode(signature, validate=True), text.encode(errors="surrogatepass"))
    except (InvalidSignature, ValueError, binascii.Error):
        return False
    return True


def names_key(key_id: str, public_key: str) -> bool:
    """Whether this is the id of the key with this public half (base64)."""
    try:
        return key_id_of(base64.b64decode(public_key, validate=True)) == key_id
    except (ValueError, binascii.Error):
        return False


def _unusable(path: Path, why: str, mend: str) -> Misconfigured:
    return Misconfigured(f"the ledger's key {path} {why}: {mend}, then start again", field=FIELD)
