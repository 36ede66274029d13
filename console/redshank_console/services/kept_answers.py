"""Finds the answer that a repeated write got before."""

from collections.abc import Awaitable, Callable

from redshank_console.services.admin_audit import repeated
from redshank_console.services.orders import Answer
from redshank_shared.domain.errors import Conflict, NotFound
from redshank_shared.session_commands import KeyedRequest
from redshank_shared.stores.database import Database
from redshank_shared.stores.idempotency import Idempotency, IdempotencyEntry


class KeptAnswers:
    """Reads only: an answer is kept by the transaction that it answers for."""

    def __init__(self, database: Database, idempotency: Idempotency) -> None:
        self._database = database
        self._idempotency = idempotency

    async def earlier(self, keyed: KeyedRequest | None) -> Answer | None:
        """The answer to the same request; Conflict where its key came with another body."""
        if keyed is None:
            return None
        entry = await self._database.run(self._idempotency.find, keyed.scope, keyed.key)
        if entry is None:
            return None
        if entry.request_digest != keyed.request_digest:
            raise Conflict(
                "this Idempotency-Key was used with another body; send a new key for a new request",
                code="idempotency_key_reused",
                field="Idempotency-Key",
            )
        repeated()
        return Answer(entry.status, entry.answer)

    async def once(
        self, keyed: KeyedRequest | None, carry_out: Callable[[], Awaitable[Answer]]
    ) -> Answer:
        """The answer to the same request, else that of carrying it out. What then refuses it may be
        the same request, which was carried out meanwhile: its answer is the answer.
        """
        earlier = await self.earlier(keyed)
        if earlier is not None:
            return earlier
        try:
            return await carry_out()
        except (Conflict, NotFound):
            earlier = await self.earlier(keyed)
            if earlier is None:
                raise
            return earlier


def entry_of(keyed: KeyedRequest | None, answer: Answer) -> IdempotencyEntry | None:
    """The answer as it is kept under the request's key; None without one."""
    if keyed is None:
        return None
    return IdempotencyEntry(
        keyed.scope, keyed.key, keyed.request_digest, answer.status, answer.body
    )
