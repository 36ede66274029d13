"""Writes down a process that announces itself over HTTP, because it may not touch the database."""

from collections.abc import Callable
from datetime import datetime

import msgspec

from redshank_console.services.principal import require
from redshank_console.services.sign_in import SignIn
from redshank_shared.domain.errors import Conflict, Invalid, Unauthenticated
from redshank_shared.stores.database import Database
from redshank_shared.stores.services import ServiceKind, ServiceRow, Services
from redshank_shared.wire.service_token import CONSOLE_AUDIENCE, verify

MOST_REPORT_BYTES = 16 * 1024

_NO_TOKEN = (
    "send Authorization: Bearer with an admin's token, or with a service token that is signed for "
    "this console"
)


class Announced(msgspec.Struct, frozen=True):
    """A process as it described itself."""

    service_id: str
    kind: ServiceKind
    address: str
    version: str
    report: dict[str, object]


class Verifier:
    """Knows service tokens. `now`: the present moment."""

    def __init__(self, secret: str, now: Callable[[], datetime]) -> None:
        """With an empty `secret` no service token is good."""
        self._secret = secret
        self._now = now

    def subject(self, token: str) -> str:
        """Whom a token for this console's audience stands for; else Unauthenticated."""
        if not self._secret:
            raise Unauthenticated(
                "this token is no admin's, and this console has no service secret to check others "
                "with: set gateway.service_secret_env or gateway.service_secret_slot"
            )
        return verify(token, self._secret, CONSOLE_AUDIENCE, self._now())


class Announcing:
    """`at`: the present moment, RFC 3339 UTC."""

    def __init__(
        self,
        database: Database,
        services: Services,
        sign_in: SignIn,
        verifier: Verifier,
        at: Callable[[], str],
    ) -> None:
        self._database = database
        self._services = services
        self._sign_in = sign_in
        self._verifier = verifier
        self._at = at

    async def announce(self, authorization: str, said: Announced) -> None:
        """The process lives, for the next 15 s.

        Unauthenticated, NotAllowed by the header; Invalid for a report above 16 KiB; Conflict where
        the id is that of a process of another kind.
        """
        await self._admit(authorization)
        report = msgspec.json.encode(said.report)
        if len(report) > MOST_REPORT_BYTES:
            raise Invalid(f"report has more than {MOST_REPORT_BYTES} bytes", field="report")
        row = ServiceRow(
            service_id=said.service_id,
            kind=said.kind,
            address=said.address,
            version=said.version,
            started_at=self._at(),
            report=report.decode(),
        )
        if not await self._database.run(self._services.tell, row):
            raise Conflict(
                "service_id is that of a process of another kind; take a new one at each start",
                code="service_id_taken",
                field="service_id",
            )

    async def _admit(self, authorization: str) -> None:
        scheme, _, token = authorization.partition(" ")
        token = token.strip()
        if scheme.lower() != "bearer" or not token:
            raise Unauthenticated(_NO_TOKEN)
        principal = await self._sign_in.bearer(token)
        if principal is None:
            self._verifier.subject(token)
        else:
            require(principal, "admin", "announcing a process without a service token")
