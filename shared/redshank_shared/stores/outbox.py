"""The outbox: what must be delivered to the outside, by due time."""

from typing import Any

import msgspec
from sqlalchemy import insert, select

from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.tables import outbox
from redshank_shared.stores.text import storable


class Delivery(msgspec.Struct, frozen=True):
    """One thing to deliver. `payload`: JSON text; `created_at`: RFC 3339 UTC."""

    delivery_id: str
    workstream_id: str
    kind: str
    payload: str
    created_at: str
    attempts: int = 0


class Outbox:
    """Deliveries that are not done yet."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, delivery: Delivery, in_seconds: float = 0.0) -> None:
        """Write the delivery down, due in so long; Conflict if its id is taken."""
        values: dict[str, Any] = msgspec.structs.asdict(delivery)
        values.update(payload=storable(delivery.payload), due_at=now_seconds() + in_seconds)
        with self._database.begin() as connection:
            connection.execute(insert(outbox).values(values))

    def due(self, limit: int = 100) -> list[Delivery]:
        """What is due now, oldest first."""
        columns = outbox.c
        statement = (
            select(
                columns.delivery_id,
                columns.workstream_id,
                columns.kind,
                columns.payload,
                columns.created_at,
                columns.attempts,
            )
            .where(columns.due_at <= now_seconds())
            .order_by(columns.due_at, columns.delivery_id)
            .limit(limit)
        )
        with self._database.read() as connection:
            return [Delivery(*row) for row in connection.execute(statement)]
