"""Keeps manual skills, shows those of MCP servers beside them."""

import logging

import msgspec

from redshank_console.services.admin_audit import AdminAudit
from redshank_console.services.kept_answers import KeptAnswers, entry_of
from redshank_console.services.orders import Answer, Clock
from redshank_shared.domain.errors import Conflict, NotFound
from redshank_shared.session_commands import KeyedRequest
from redshank_shared.stores.database import Database
from redshank_shared.stores.idempotency import Idempotency, IdempotencyRace
from redshank_shared.stores.skills import SkillArgument, SkillFilters, SkillRow, Skills
from redshank_shared.wire.skill_requests import ChangedSkill, NewSkill
from redshank_shared.wire.skill_views import SkillArgumentView, SkillView
from redshank_shared.wire.views import PageView

logger = logging.getLogger(__name__)


def skills_over(database: Database, audit: AdminAudit, clock: Clock) -> "SkillOrders":
    """What the console does with the skills of this database."""
    kept = KeptAnswers(database, Idempotency(database))
    return SkillOrders(database, Skills(database), kept, audit, clock)


class SkillOrders:
    """Prompts of MCP servers are read-only here (T-77). Each change is audited with it.

    Every method raises Unavailable while the database does not answer.
    """

    def __init__(
        self, database: Database, skills: Skills, kept: KeptAnswers, audit: AdminAudit, clock: Clock
    ) -> None:
        self._database = database
        self._skills = skills
        self._kept = kept
        self._audit = audit
        self._clock = clock

    async def page(
        self, filters: SkillFilters, limit: int, cursor: str | None
    ) -> PageView[SkillView]:
        """Skills by name, a manual one before an MCP server's of the same name."""
        page = await self._database.run(self._skills.page, filters, limit, cursor)
        items = [_view(listed.row, listed.overruled) for listed in page.items]
        return PageView(items=items, next_cursor=page.next_cursor, total=page.total)

    async def skill(self, name: str) -> SkillView:
        """The skill that counts under this name; NotFound."""
        found = await self._database.run(self._skills.named, name)
        if not found:
            raise NotFound(
                f"there is no skill {name}: GET /v1/skills lists them",
                code="no_such_skill",
                field="name",
            )
        return _view(found[0])

    async def add(self, asked: NewSkill, by: str, keyed: KeyedRequest | None) -> Answer:
        """201 and a manual skill; Conflict where there is one of its name."""
        earlier = await self._kept.earlier(keyed)
        if earlier is not None:
            return earlier
        row = self._row(asked)
        answer = Answer(201, _view(row).model_dump_json())
        act = self._audit.act(by, "skill.added", row.name)
        try:
            is_new = await self._database.run(
                self._skills.create, row, act, entry_of(keyed, answer)
            )
        except IdempotencyRace:
            is_new = False
        if is_new:
            await self._warn_of_overruled(row.name)
            return answer
        # The same request may have been the one that made it.
        earlier = await self._kept.earlier(keyed)
        if earlier is None:
            raise Conflict(
                f"there is a manual skill {row.name} already; PUT /v1/skills/{row.name} changes it",
                code="skill_exists",
                field="name",
            )
        return earlier

    async def change(self, name: str, asked: ChangedSkill, by: str) -> SkillView:
        """The manual skill as it is from now on; NotFound; NotAllowed for an MCP server's."""
        at = self._clock.at()

        def change(row: SkillRow) -> SkillRow:
            return msgspec.structs.replace(
                row,
                description=asked.description,
                body=asked.body,
                arguments=_arguments(asked),
                enabled=asked.enabled,
                updated_at=at,
            )

        act = self._audit.act(by, "skill.changed", name)
        return _view(await self._database.run(self._skills.change, name, change, act))

    async def remove(self, name: str, by: str) -> SkillView:
        """The manual skill as it was; an MCP server's of its name counts again. NotFound;
        NotAllowed for an MCP server's.
        """
        act = self._audit.act(by, "skill.removed", name)
        return _view(await self._database.run(self._skills.remove, name, act))

    def _row(self, asked: NewSkill) -> SkillRow:
        at = self._clock.at()
        return SkillRow(
            name=asked.name,
            origin="manual",
            server="",
            description=asked.description,
            body=asked.body,
            arguments=_arguments(asked),
            enabled=asked.enabled,
            created_at=at,
            updated_at=at,
        )

    async def _warn_of_overruled(self, name: str) -> None:
        for row in await self._database.run(self._skills.named, name):
            if row.origin == "mcp":
                logger.warning(
                    "the skill %s of the MCP server %s is not used any more: the new manual skill "
                    "of this name wins",
                    name,
                    row.server,
                )


def _arguments(asked: ChangedSkill) -> tuple[SkillArgument, ...]:
    return tuple(
        SkillArgument(argument.name, argument.description, argument.required)
        for argument in asked.arguments
    )


def _view(row: SkillRow, overruled: bool = False) -> SkillView:
    return SkillView(
        name=row.name,
        origin=row.origin,
        server=row.server,
        description=row.description,
        body=row.body,
        arguments=[
            SkillArgumentView(**msgspec.structs.asdict(argument)) for argument in row.arguments
        ],
        enabled=row.enabled,
        read_only=row.origin == "mcp",
        overruled=overruled,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
