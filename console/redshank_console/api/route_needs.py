"""The table of what each route needs of who asks."""

from typing import Literal

from redshank_shared.domain.access import TokenScope

# `signed_in`: anybody who is known, whatever their scopes; `open`: nobody needs to be known.
Need = TokenScope | Literal["signed_in", "open"]

_OF_A_WORKSTREAM: dict[str, Need] = {
    "GET ": "read",
    "POST ": "operate",
    "GET /{id}": "read",
    "POST /{id}/messages": "operate",
    "GET /{id}/events": "read",
    "GET /{id}/history": "read",
    "GET /{id}/export": "read",
    "GET /{id}/previews": "read",
    "GET /{id}/permission-audits": "read",
    "POST /{id}/approvals": "approve",
    "POST /{id}/approval-runs": "approve",
    "POST /{id}/revoke-grant": "approve",
    "POST /{id}/questions": "approve",
    "GET /{id}/questions": "read",
    "POST /{id}/questions/{rid}/cancel": "approve",
    "POST /{id}/cancel": "operate",
    "POST /{id}/close": "operate",
    "POST /{id}/retry": "operate",
    "POST /{id}/compact": "operate",
    "POST /{id}/fork": "operate",
    # A wider mode decides what would have asked.
    "POST /{id}/mode": "approve",
}

# `METHOD path` as the routes are written. One that is missing here is an admin's alone.
NEEDS: dict[str, Need] = {
    **{
        f"{place.replace(' ', f' {prefix}', 1)}": need
        for prefix in ("/v1/workstreams", "/v1/sessions")
        for place, need in _OF_A_WORKSTREAM.items()
    },
    "GET /v1/approvals": "read",
    "GET /v1/questions": "read",
    "GET /v1/runs/{id}": "read",
    "POST /v1/runs/{id}/approvals": "approve",
    "POST /v1/runs/{id}/questions": "approve",
    "POST /v1/runs/{id}/questions/{rid}/cancel": "approve",
    "GET /v1/schedules": "read",
    "POST /v1/schedules": "operate",
    "GET /v1/schedules/{id}": "read",
    "POST /v1/schedules/{id}/pause": "operate",
    "POST /v1/schedules/{id}/resume": "operate",
    "POST /v1/schedules/{id}/cancel": "operate",
    "POST /v1/schedules/{id}/trigger": "operate",
    "POST /v1/schedules/{id}/hook": "operate",
    "DELETE /v1/schedules/{id}/hook": "operate",
    # The token in the address is the right.
    "POST /v1/hooks/watch/{token}": "open",
    "GET /v1/profiles": "read",
    "GET /v1/profiles/{name}": "read",
    "GET /v1/tool-surface": "read",
    "GET /v1/permissions/rules": "read",
    "POST /v1/permissions/rules": "admin",
    "DELETE /v1/permissions/rules": "admin",
    "DELETE /v1/permissions/rules/{id}": "admin",
    "POST /v1/permissions/check": "read",
    "POST /v1/permissions/matrix": "read",
    "POST /v1/permissions/test": "read",
    "POST /v1/permissions/diff": "read",
    "GET /v1/permissions/decisions": "read",
    "POST /v1/runtime/permissions/check": "read",
    "POST /v1/runtime/permissions/matrix": "read",
    "GET /v1/tool-limits": "read",
    "PUT /v1/tool-limits": "admin",
    "GET /v1/runtime/tool-limits": "read",
    "POST /v1/runtime/tool-limits": "admin",
    "GET /v1/secrets": "admin",
    "PUT /v1/secrets/{slot}": "admin",
    "POST /v1/secrets/{slot}/revoke": "admin",
    "POST /v1/secrets/rotate": "admin",
    "GET /v1/ledger": "read",
    "GET /v1/ledger/keys": "read",
    "GET /v1/ledger/verify": "read",
    "GET /v1/ledger/export": "read",
    "GET /v1/hooks/dead-letters": "read",
    "GET /v1/assets/{digest}": "read",
    "GET /v1/cluster/overview": "read",
    "GET /v1/cluster/nodes": "read",
    "GET /v1/cluster/nodes/{id}": "read",
    "GET /v1/cluster/snapshot": "read",
    "GET /v1/cluster/events": "read",
    # It looks at the token itself: a service's is none of a person's.
    "POST /v1/cluster/services": "open",
    "GET /v1/users": "admin",
    "POST /v1/users": "admin",
    "PATCH /v1/users/{name}": "admin",
    "DELETE /v1/users/{name}": "admin",
    "GET /v1/tokens": "admin",
    "POST /v1/tokens": "admin",
    "DELETE /v1/tokens/{id}": "admin",
    "GET /v1/audit": "admin",
    "GET /v1/me": "signed_in",
    "POST /v1/signin": "open",
    "POST /v1/signout": "signed_in",
    "POST /v1/signin-links": "admin",
    "GET /metrics": "read",
    "GET /health": "open",
    "GET /openapi.json": "open",
    "HEAD /openapi.json": "open",
    "GET /": "open",
    "HEAD /": "open",
}
