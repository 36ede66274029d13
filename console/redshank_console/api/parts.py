"""Names what the routes stand on."""

from dataclasses import dataclass
from pathlib import Path

from redshank_console.api.door import DoorRules
from redshank_console.services.announcing import Announcing
from redshank_console.services.cluster_feed import ClusterFeeds
from redshank_console.services.event_feed import EventFeeds
from redshank_console.services.event_pages import EventPages
from redshank_console.services.gauges import Gauges
from redshank_console.services.health import Health
from redshank_console.services.orders import Orders
from redshank_console.services.overview import Overview
from redshank_console.services.reading import Reading
from redshank_console.services.schedule_orders import ScheduleOrders
from redshank_console.services.schedules import ScheduleReading
from redshank_console.services.sign_in import SignIn


@dataclass(frozen=True)
class Parts:
    """`address`: where people open this console, such as http://127.0.0.1:8090."""

    orders: Orders
    reading: Reading
    schedule_orders: ScheduleOrders
    schedules: ScheduleReading
    pages: EventPages
    feeds: EventFeeds
    sign_in: SignIn
    overview: Overview
    cluster_feeds: ClusterFeeds
    announcing: Announcing
    health: Health
    gauges: Gauges
    door_rules: DoorRules
    page_folder: Path
    address: str
    version: str
