"""Names what the routes stand on."""

from dataclasses import dataclass
from pathlib import Path

from redshank_console.api.door import DoorRules
from redshank_console.services.accounts import Accounts
from redshank_console.services.admin_audit import AdminAudit
from redshank_console.services.announcing import Announcing
from redshank_console.services.answers import Answers
from redshank_console.services.assets import AssetReading
from redshank_console.services.cluster_feed import ClusterFeeds
from redshank_console.services.event_feed import EventFeeds
from redshank_console.services.event_pages import EventPages
from redshank_console.services.gauges import Gauges
from redshank_console.services.health import Health
from redshank_console.services.hook_dead_letters import DeadLetterReading
from redshank_console.services.ledger import LedgerReading
from redshank_console.services.mcp import Mcp
from redshank_console.services.mcp_login import McpLogin
from redshank_console.services.orders import Orders
from redshank_console.services.overview import Overview
from redshank_console.services.permissions import Permissions
from redshank_console.services.reading import Reading
from redshank_console.services.schedule_orders import ScheduleOrders
from redshank_console.services.schedules import ScheduleReading
from redshank_console.services.secrets import SecretKeeping
from redshank_console.services.sign_in import SignIn
from redshank_console.services.skills import SkillOrders
from redshank_console.services.standing import Standing
from redshank_console.services.tool_limits import ToolLimitOrders
from redshank_console.services.watch_hooks import WatchHooks
from redshank_shared.vault.redaction import Redactor


@dataclass(frozen=True)
class Parts:
    """`address`: where people open this console, such as http://127.0.0.1:8090."""

    orders: Orders
    reading: Reading
    answers: Answers
    schedule_orders: ScheduleOrders
    schedules: ScheduleReading
    secrets: SecretKeeping
    redactor: Redactor
    pages: EventPages
    feeds: EventFeeds
    sign_in: SignIn
    admin_audit: AdminAudit
    accounts: Accounts
    standing: Standing
    overview: Overview
    cluster_feeds: ClusterFeeds
    tool_limits: ToolLimitOrders
    permissions: Permissions
    mcp: Mcp
    mcp_login: McpLogin
    skills: SkillOrders
    assets: AssetReading
    hook_dead_letters: DeadLetterReading
    announcing: Announcing
    ledger: LedgerReading
    watch_hooks: WatchHooks
    health: Health
    gauges: Gauges
    door_rules: DoorRules
    page_folder: Path
    address: str
    version: str
