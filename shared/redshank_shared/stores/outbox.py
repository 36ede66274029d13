"""The outbox: what must be delivered to the outside, by due time."""

from typing import Any

import msgspec
from sqlalchemy import insert, select, update

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


_COLUMNS = tuple(outbox.c[name] for name in msgspec.structs.asdict(Delivery("", "", "", "", "")))


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

    def get(self, delivery_id: str) -> Delivery | None:
        """The delivery of this id, if it is not settled."""
        statement = select(*_COLUMNS).where(outbox.c.delivery_id == delivery_id)
        with self._database.read() as connection:
            row = connection.execute(statement).first()
        return None if row is None else Delivery(*row)

    def again(self, delivery_id: str, in_seconds: float, *, failed: bool) -> None:
        """Due anew in so long; `failed` counts an attempt."""
        statement = (
            update(outbox)
            .where(outbox.c.delivery_id == delivery_id)
            .values(
                due_at=now_seconds() + in_seconds,
                attempts=outbox.c.attempts + (1 if failed else 0),
            )
        )
        with self._database.begin() as connection:
            connection.execute(statement)

    def due(self, limit: int = 100) -> list[Delivery]:
        """What is due now, oldest first."""
        columns = outbox.c
        statement = (
            select(*_COLUMNS)
            .where(columns.due_at <= now_seconds())
            .order_by(columns.due_at, columns.delivery_id)
            .limit(limit)
        )
        with self._database.read() as connection:
            return [Delivery(*row) for row in connection.execute(statement)]
