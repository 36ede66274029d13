"""Bundles what the routes of permissions stand on."""

from dataclasses import dataclass

from redshank_console.services.admin_audit import AdminAudit
from redshank_console.services.cluster_surface import ClusterSurface
from redshank_console.services.decisions import Decisions
from redshank_console.services.dry_runs import DryRuns
from redshank_console.services.kept_answers import KeptAnswers
from redshank_console.services.orders import Clock
from redshank_console.services.policy_in_force import PolicyInForce
from redshank_console.services.policy_trials import PolicyTrials
from redshank_console.services.rules import RuleOrders
from redshank_shared.session_commands import SessionCommands
from redshank_shared.stores.audits import Audits
from redshank_shared.stores.database import Database
from redshank_shared.stores.idempotency import Idempotency
from redshank_shared.stores.permission_rules import PermissionRules
from redshank_shared.stores.services import Services


@dataclass(frozen=True)
class Permissions:
    """One for a console."""

    rules: RuleOrders
    dry_runs: DryRuns
    trials: PolicyTrials
    surface: ClusterSurface
    decisions: Decisions


def permissions_over(
    database: Database, commands: SessionCommands, audit: AdminAudit, clock: Clock
) -> Permissions:
    """All of it, read from this database."""
    stored, kept = PermissionRules(database), KeptAnswers(database, Idempotency(database))
    surface = ClusterSurface(database, Services(database))
    policy = PolicyInForce(database, stored, surface, commands)
    return Permissions(
        rules=RuleOrders(database, stored, kept, policy, audit, clock),
        dry_runs=DryRuns(policy),
        trials=PolicyTrials(policy),
        surface=surface,
        decisions=Decisions(database, Audits(database)),
    )
