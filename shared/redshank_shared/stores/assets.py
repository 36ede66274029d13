"""Bytes that are kept under their own digest."""

import hashlib
import re

import msgspec
from sqlalchemy import select

from redshank_shared.domain.errors import Invalid
from redshank_shared.stores.database import Database
from redshank_shared.stores.tables import assets
from redshank_shared.stores.text import storable

_SHAPE = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


class Asset(msgspec.Struct, frozen=True):
    """`digest`: `sha256:` and 64 hex digits of the body; `created_at`: RFC 3339 UTC."""

    digest: str
    media_type: str
    created_at: str
    body: bytes


class Assets:
    """The same bytes are kept once; nothing is ever changed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, body: bytes, media_type: str, at: str) -> str:
        """Keep the bytes; their digest. Bytes that are there already stay as they were kept."""
        digest = digest_of(body)
        statement = self._database.dialect.insert(assets).values(
            digest=digest,
            media_type=storable(media_type),
            size=len(body),
            created_at=at,
            body=body,
        )
        with self._database.begin() as connection:
            connection.execute(statement.on_conflict_do_nothing())
        return digest

    def get(self, digest: str) -> Asset | None:
        """What is kept under this digest, if anything is."""
        statement = select(assets).where(assets.c.digest == digest)
        with self._database.read() as connection:
            row = connection.execute(statement).first()
        if row is None:
            return None
        return Asset(row.digest, row.media_type, row.created_at, bytes(row.body))


def digest_of(body: bytes) -> str:
    """`sha256:` and the hex digest of these bytes."""
    return "sha256:" + hashlib.sha256(body).hexdigest()


def checked_digest(text: str) -> str:
    """The digest that this text means, with or without `sha256:` before it; else Invalid."""
    found = _SHAPE.fullmatch(text)
    if found is None:
        raise Invalid(
            "digest must be sha256: and 64 hex digits in small letters; "
            "copy it from the call's result",
            code="malformed_digest",
            field="digest",
        )
    return f"sha256:{found[1]}"
