"""Keeps permission rules: lists them, adds them, takes them away."""

from collections.abc import Sequence

from redshank_console.services.admin_audit import AdminAudit
from redshank_console.services.kept_answers import KeptAnswers, entry_of
from redshank_console.services.orders import Answer, Clock
from redshank_console.services.permission_views import change_views, rule_view
from redshank_console.services.policy_in_force import (
    DEFAULT_PROFILE,
    PolicyInForce,
    Standpoint,
    known_names,
    surface_of,
)
from redshank_console.services.principal import LOCAL
from redshank_shared.domain.errors import Conflict, Invalid, NotFound
from redshank_shared.domain.events import MODES
from redshank_shared.permissions.matrix import effect_of_rule
from redshank_shared.permissions.rules import Rule, asks_once_more, check_names, check_rule
from redshank_shared.permissions.tool_card import MCP_PREFIX
from redshank_shared.profiles.profile import load
from redshank_shared.session_commands import KeyedRequest
from redshank_shared.stores.database import Database
from redshank_shared.stores.idempotency import IdempotencyRace
from redshank_shared.stores.permission_rules import (
    EVERYBODY,
    PROJECT,
    AllowedAlways,
    Beside,
    PermissionRules,
    RuleFilters,
    RuleRow,
)
from redshank_shared.stores.users import Users
from redshank_shared.wire.permission_requests import NewRule
from redshank_shared.wire.permission_views import CellChangeView, RuleView
from redshank_shared.wire.views import PageView

_TOLD_CELLS = 8


class ConfirmNeeded(Conflict):
    """The rule reaches so far that its sender must have seen what it changes (O28)."""

    code = "confirm_needed"

    def __init__(self, detail: str, changes: Sequence[CellChangeView]) -> None:
        super().__init__(detail, field="confirm")
        self.changes = tuple(changes)


class RuleOrders:
    """A rule counts from the next call that is decided anywhere. Each change is audited with it.

    Every method raises Unavailable while the database does not answer.
    """

    def __init__(
        self,
        database: Database,
        rules: PermissionRules,
        kept: KeptAnswers,
        policy: PolicyInForce,
        audit: AdminAudit,
        clock: Clock,
    ) -> None:
        self._database = database
        self._rules = rules
        self._kept = kept
        self._policy = policy
        self._audit = audit
        self._clock = clock
        self._users = Users(database)

    async def page(
        self, filters: RuleFilters, limit: int, cursor: str | None
    ) -> PageView[RuleView]:
        """Stored rules in the order in which they were added."""
        page = await self._database.run(self._rules.page, filters, limit, cursor)
        items = [rule_view(row) for row in page.items]
        return PageView(items=items, next_cursor=page.next_cursor, total=page.total)

    async def add(self, asked: NewRule, by: str, keyed: KeyedRequest | None) -> Answer:
        """201 and the rule, which replaces one of the same scope, subject, pattern.

        Invalid names the nearest tool where no tool is called so; ConfirmNeeded (O28).
        """
        earlier = await self._kept.earlier(keyed)
        if earlier is not None:
            return earlier
        row = self._row(asked, by)
        await self._check(row, asked.confirm)

        def beside(stored: RuleRow, is_new: bool) -> Beside:
            act = "rule.added" if is_new else "rule.replaced"
            return self._beside(act, by, stored, keyed, _answer(stored, 201))

        try:
            stored, _ = await self._database.run(self._rules.put, row, beside)
        except IdempotencyRace:
            return await self._raced(keyed)
        return _answer(stored, 201)

    async def remove(self, rule_id: str, by: str, keyed: KeyedRequest | None) -> Answer:
        """200 and the rule as it was; NotFound."""
        return await self._kept.once(keyed, lambda: self._remove(rule_id, by, keyed))

    async def _remove(self, rule_id: str, by: str, keyed: KeyedRequest | None) -> Answer:
        def beside(stored: RuleRow, _: bool) -> Beside:
            return self._beside("rule.removed", by, stored, keyed, _answer(stored, 200))

        row = await self._database.run(self._rules.delete, rule_id, beside)
        if row is None:
            raise NotFound(
                "there is no such rule; list them with GET /v1/permissions/rules",
                code="rule_not_found",
                field="id",
            )
        return _answer(row, 200)

    def allowed_always(self, pattern: str, owner: str, by: str, note: str = "") -> AllowedAlways:
        """The user rule that allows this pattern for the owner's calls, to be written with the
        answer that makes it; `by` is the person who said "always". Invalid for a call whose name
        no rule can hold to the letter.
        """
        if pattern.endswith("*"):
            raise Invalid("it ends with *, which in a rule means all that begins so")
        check_rule(Rule(pattern, "allow", "user", "approval"))
        row = RuleRow(
            rule_id=self._clock.new_id("rul"),
            scope="user",
            subject=owner,
            pattern=pattern,
            decision="allow",
            locked=False,
            origin="approval",
            note=note,
            created_by=by,
            created_at=self._clock.at(),
        )

        def beside(stored: RuleRow, is_new: bool) -> Beside:
            act = "rule.added" if is_new else "rule.replaced"
            return Beside(self._audit.act(by, act, stored.rule_id, _said(stored)))

        return AllowedAlways(row, beside)

    def _row(self, asked: NewRule, by: str) -> RuleRow:
        own = by if asked.scope == "user" else PROJECT
        return RuleRow(
            rule_id=self._clock.new_id("rul"),
            scope=asked.scope,
            subject=asked.subject or own,
            pattern=asked.pattern,
            decision=asked.decision,
            locked=asked.locked,
            origin="static",
            note=asked.note,
            created_by=by,
            created_at=self._clock.at(),
        )

    async def _check(self, row: RuleRow, confirmed: bool) -> None:
        rule = Rule(row.pattern, row.decision, row.scope, locked=row.locked)
        check_rule(rule)
        await self._check_subject(row)
        if row.pattern.startswith(MCP_PREFIX) and not asks_once_more(rule):
            # A server's tools come and go: a rule may be there first.
            return
        live = await self._policy.live()
        check_names(row.pattern, known_names(live), strict=True)
        if not asks_once_more(rule) or confirmed:
            return
        standpoint = Standpoint(row.subject, "default", load(DEFAULT_PROFILE))
        ruleset = await self._policy.ruleset(standpoint, live)
        cards = surface_of(standpoint.profile, live)
        changes = change_views(effect_of_rule(ruleset, rule, cards, MODES))
        raise ConfirmNeeded(_reach(changes), changes)

    async def _check_subject(self, row: RuleRow) -> None:
        """A rule for somebody who is not there matches nothing, whatever its author believes."""
        if row.subject == EVERYBODY:
            return
        if row.scope == "project":
            if row.subject != PROJECT:
                raise Invalid(
                    f"there is no project {row.subject}: leave subject out for {PROJECT}, the one "
                    "that there is",
                    field="subject",
                )
            return
        if row.subject in (row.created_by, LOCAL.name):
            return
        if not await self._database.run(self._users.is_known, row.subject):
            raise Invalid(
                f"there is no user {row.subject}: GET /v1/users lists them (`redshank users ls`); "
                "* means everybody",
                field="subject",
            )

    def _beside(
        self, act: str, by: str, row: RuleRow, keyed: KeyedRequest | None, answer: Answer
    ) -> Beside:
        return Beside(self._audit.act(by, act, row.rule_id, _said(row)), entry_of(keyed, answer))

    async def _raced(self, keyed: KeyedRequest | None) -> Answer:
        earlier = await self._kept.earlier(keyed)
        if earlier is None:
            raise Conflict("the same request is being carried out; send it again", code="in_hand")
        return earlier


def _answer(row: RuleRow, status: int) -> Answer:
    return Answer(status, rule_view(row).model_dump_json())


def _said(row: RuleRow) -> str:
    locked = "locked " if row.locked else ""
    return f"{locked}{row.scope} rule of {row.subject}: {row.pattern} {row.decision}"


def _reach(changes: Sequence[CellChangeView]) -> str:
    told = "; ".join(
        f"{change.tool} in {change.mode}: {change.before.decision} becomes {change.after.decision}"
        for change in changes[:_TOLD_CELLS]
    )
    more = f"; and {len(changes) - _TOLD_CELLS} more" if len(changes) > _TOLD_CELLS else ""
    changed = f"changes {len(changes)} decisions ({told}{more})" if changes else "changes nothing"
    return f"an allow of * lies above every built-in ask. It {changed}: send confirm: true for it"
