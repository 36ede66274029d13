"""Keeps the prompts of this node's MCP servers as skills (T-77)."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping

import msgspec

from redshank_node.mcp_client.inventory import Inventory, RemotePrompt
from redshank_shared.domain.errors import Misconfigured, Unavailable
from redshank_shared.domain.mcp_names import qualified
from redshank_shared.stores.database import Database
from redshank_shared.stores.skill_offers import OfferedPrompt, Prompts, SkillChanges, SkillOffers
from redshank_shared.stores.skills import SkillArgument
from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)

# How soon a change is written; what somebody else took away comes back after the longer time.
LOOK_SECONDS = 1.0
ANEW_SECONDS = 15.0
# What a server says is bounded before it is kept.
MOST_PROMPTS = 500
MOST_ARGUMENTS = 50
_LONGEST_DESCRIPTION = 1024
_LONGEST_NAME = 200


class ServersSeen(msgspec.Struct, frozen=True):
    """What a node's servers are asked through. `revision` grows with every change of what
    `inventories` gives; `redact` takes secrets out; `at` is RFC 3339 UTC.
    """

    revision: Callable[[], int]
    inventories: Callable[[], Mapping[str, Inventory]]
    redact: Callable[[str], str]
    at: Callable[[], str]
    monotonic: Callable[[], float]


class PromptSkills:
    """Any number of nodes may see the same servers: each says what it sees, all of it."""

    def __init__(self, database: Database, node_id: str, around: ServersSeen) -> None:
        self._database = database
        self._offers = SkillOffers(database)
        self._node_id = node_id
        self._around = around

    async def run(self, stop: asyncio.Event) -> None:
        """Until stop; through every loss of the database."""
        told, told_at = -1, self._around.monotonic()
        while not stop.is_set():
            revision, now = self._around.revision(), self._around.monotonic()
            is_due = now - told_at >= ANEW_SECONDS
            if revision != told or is_due:
                try:
                    await self.offer()
                    if is_due:
                        await self.forget()
                    told, told_at = revision, now
                except Unavailable as error:
                    logger.warning("prompts are not kept as skills now: %s", error.detail)
            await happened(stop, LOOK_SECONDS)

    async def offer(self) -> SkillChanges:
        """Write down what the servers offer now, in place of what they offered before."""
        offered: dict[str, Prompts] = {}
        for server, inventory in self._around.inventories().items():
            prompts = prompts_of(inventory, self._around.redact)
            if prompts:
                offered[server] = prompts
        at = self._around.at()
        changes = await self._database.run(self._offers.offer, self._node_id, offered, at)
        _tell(changes)
        return changes

    async def forget(self) -> SkillChanges:
        """Take back what nodes offered that are there no more."""
        at = self._around.at()
        changes = await self._database.run(self._offers.forget, self._node_id, at)
        _tell(changes)
        return changes


def prompts_of(inventory: Inventory, redact: Callable[[str], str]) -> Prompts:
    """The server's prompts under their skills' names, bounded. Left out: names that are too long,
    names that would be another's too (K-66).
    """
    named = [
        (name, prompt)
        for prompt in inventory.prompts[:MOST_PROMPTS]
        if (name := _name_of(inventory.server, prompt)) is not None
    ]
    times = Counter(name for name, _ in named)
    return tuple(
        _offered(inventory.server, name, prompt, redact)
        for name, prompt in named
        if times[name] == 1
    )


def _name_of(server: str, prompt: RemotePrompt) -> str | None:
    try:
        return qualified(server, prompt.name)
    except Misconfigured:
        return None


def _offered(
    server: str, name: str, prompt: RemotePrompt, redact: Callable[[str], str]
) -> OfferedPrompt:
    arguments = tuple(
        SkillArgument(
            _bounded(argument.name, _LONGEST_NAME, redact),
            _bounded(argument.description, _LONGEST_DESCRIPTION, redact),
            argument.required,
        )
        for argument in prompt.arguments[:MOST_ARGUMENTS]
    )
    description = _bounded(prompt.description, _LONGEST_DESCRIPTION, redact)
    body = f"The MCP server {server} fills this prompt in: call use_prompt with name {name}."
    return OfferedPrompt(name, description, body, arguments)


def _bounded(text: str, most: int, redact: Callable[[str], str]) -> str:
    # Redacted before it is cut: half a secret would not be recognised.
    return redact(text[: 4 * most])[:most]


def _tell(changes: SkillChanges) -> None:
    for what, names in (("new", changes.added), ("gone", changes.removed)):
        if names:
            logger.info("skills of MCP servers, %s: %s", what, ", ".join(names))
    for name in changes.overruled:
        logger.warning(
            "the skill %s of an MCP server is not used: a manual skill of this name wins", name
        )
