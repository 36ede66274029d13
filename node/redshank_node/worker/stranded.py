"""Puts nudges back that a node popped without ever taking them."""

import redis.asyncio

from redshank_shared.queue import keys

_MOST_AT_ONCE = 1000

# A nudge that a living node is just taking may come along: its job is gone then, so it is dropped
# at the next pop.
_RESCUE = """
local moved = 0
while moved < tonumber(ARGV[1]) and redis.call('LMOVE', KEYS[1], KEYS[2], 'RIGHT', 'LEFT') do
  moved = moved + 1
end
return moved
"""


class StrandedNudges:
    """Nudges between queue and node, whose node died or lost its connection at that moment."""

    def __init__(self, client: redis.asyncio.Redis) -> None:
        self._rescue = client.register_script(_RESCUE)

    async def rescue(self, queue_list_key: str) -> int:
        """Move them to the front of their queue; how many there were. Raises RedisError."""
        moved = await self._rescue(
            keys=[keys.taken_list(queue_list_key), queue_list_key], args=[_MOST_AT_ONCE]
        )
        return int(moved)
