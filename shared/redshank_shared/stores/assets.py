"""Bytes that are kept under their own digest."""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Row, delete, exists, select
from sqlalchemy.sql import ColumnElement, Select

from redshank_shared.stores.database import Database
from redshank_shared.stores.tables import asset_references, assets, workstreams
from redshank_shared.stores.text import storable


class Asset(msgspec.Struct, frozen=True):
    """`digest`: `sha256:` and 64 hex digits of the body; `created_at`: RFC 3339 UTC, when it was
    last kept.
    """

    digest: str
    media_type: str
    created_at: str
    body: bytes


class Unreferred(msgspec.Struct, frozen=True):
    """Kept bytes that no workstream refers to."""

    digest: str
    created_at: str


class Assets:
    """The same bytes are kept once; nothing is ever changed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, body: bytes, media_type: str, at: str) -> str:
        """Keep the bytes; their digest. Bytes that are there already keep their media type; they
        are as young as new ones, so that they are not collected before a log refers to them.
        """
        digest = digest_of(body)
        statement = (
            self._database.dialect.insert(assets)
            .values(
                digest=digest,
                media_type=storable(media_type),
                size=len(body),
                created_at=at,
                body=body,
            )
            .on_conflict_do_update(index_elements=[assets.c.digest], set_={"created_at": at})
        )
        with self._database.begin() as connection:
            connection.execute(statement)
        return digest

    def get(self, digest: str) -> Asset | None:
        """What is kept under this digest, if anything is."""
        return self._found(select(assets).where(assets.c.digest == digest))

    def referred(self, digest: str, workstream_id: str | None = None) -> Asset | None:
        """What is kept under this digest, if this workstream refers to it; any, where none is
        named.
        """
        referred = _is_referred(workstream_id)
        return self._found(select(assets).where(assets.c.digest == digest, referred))

    def unreferred(self, limit: int) -> list[Unreferred]:
        """What no workstream refers to, the oldest first, at most `limit`."""
        statement = (
            select(assets.c.digest, assets.c.created_at)
            .where(~_is_referred())
            .order_by(assets.c.created_at)
            .limit(limit)
        )
        with self._database.read() as connection:
            return [Unreferred(row.digest, row.created_at) for row in connection.execute(statement)]

    def remove(self, unreferred: Sequence[Unreferred]) -> int:
        """Remove these, but for what was kept or referred to since they were looked at; how many
        went.
        """
        removed = 0
        with self._database.begin() as connection:
            for each in unreferred:
                statement = delete(assets).where(
                    assets.c.digest == each.digest,
                    assets.c.created_at == each.created_at,
                    ~_is_referred(),
                )
                removed += connection.execute(statement).rowcount
        return removed

    def _found(self, statement: Select[tuple[Any, ...]]) -> Asset | None:
        with self._database.read() as connection:
            row: Row[tuple[Any, ...]] | None = connection.execute(statement).first()
        if row is None:
            return None
        return Asset(row.digest, row.media_type, row.created_at, bytes(row.body))


def _is_referred(workstream_id: str | None = None) -> ColumnElement[bool]:
    """By a workstream that is there: what a removed one referred to goes with it (T-33)."""
    refers = (
        exists()
        .where(asset_references.c.digest == assets.c.digest)
        .where(asset_references.c.workstream_id == workstreams.c.id)
    )
    return refers if workstream_id is None else refers.where(workstreams.c.id == workstream_id)


def digest_of(body: bytes) -> str:
    """`sha256:` and the hex digest of these bytes."""
    return "sha256:" + hashlib.sha256(body).hexdigest()
