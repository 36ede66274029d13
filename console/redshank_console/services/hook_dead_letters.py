"""Reads which hooks gave no answer."""

import msgspec

from redshank_shared.stores.database import Database
from redshank_shared.stores.hook_dead_letters import DeadLetter, HookDeadLetters
from redshank_shared.wire.hook_views import DeadLetterView
from redshank_shared.wire.views import PageView


class DeadLetterReading:
    """The hooks that failed, the newest first."""

    def __init__(self, database: Database, letters: HookDeadLetters) -> None:
        self._database = database
        self._letters = letters

    async def page(self, limit: int, cursor: str | None) -> PageView[DeadLetterView]:
        """A page of them."""
        page = await self._database.run(self._letters.page, limit, cursor)
        return PageView[DeadLetterView](
            items=[_view(letter) for letter in page.items],
            next_cursor=page.next_cursor,
            total=page.total,
        )


def _view(letter: DeadLetter) -> DeadLetterView:
    fields = msgspec.structs.asdict(letter)
    return DeadLetterView(id=fields.pop("dead_letter_id"), **fields)
