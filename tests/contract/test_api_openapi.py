"""The OpenAPI document lists what api.md promises, as far as it is built."""

import json
from pathlib import Path
from typing import Any

import pytest

from redshank_console.api.app import api
from redshank_console.bootstrap import Console
from redshank_shared.settings.load import load

WORKSTREAM_ROUTES = {
    ("POST", ""),
    ("GET", ""),
    ("GET", "/{id}"),
    ("POST", "/{id}/messages"),
    ("GET", "/{id}/events"),
    ("POST", "/{id}/approvals"),
    ("POST", "/{id}/approval-runs"),
    ("POST", "/{id}/revoke-grant"),
    ("POST", "/{id}/questions"),
    ("GET", "/{id}/questions"),
    ("POST", "/{id}/questions/{rid}/cancel"),
    ("POST", "/{id}/cancel"),
    ("POST", "/{id}/close"),
    ("POST", "/{id}/fork"),
    ("POST", "/{id}/mode"),
    ("POST", "/{id}/compact"),
    ("GET", "/{id}/permission-audits"),
    ("GET", "/{id}/history"),
    ("GET", "/{id}/export"),
    ("GET", "/{id}/previews"),
    ("POST", "/{id}/retry"),
}
OTHER_ROUTES = {
    ("GET", "/v1/approvals"),
    ("GET", "/v1/approvals/decided"),
    ("GET", "/v1/questions"),
    ("GET", "/v1/runs/{id}"),
    ("POST", "/v1/runs/{id}/approvals"),
    ("POST", "/v1/runs/{id}/questions"),
    ("POST", "/v1/runs/{id}/questions/{rid}/cancel"),
    ("GET", "/v1/cluster/overview"),
    ("GET", "/v1/cluster/nodes"),
    ("POST", "/v1/schedules"),
    ("GET", "/v1/schedules"),
    ("GET", "/v1/schedules/{id}"),
    ("POST", "/v1/schedules/{id}/pause"),
    ("POST", "/v1/schedules/{id}/resume"),
    ("POST", "/v1/schedules/{id}/cancel"),
    ("POST", "/v1/schedules/{id}/trigger"),
    ("POST", "/v1/schedules/{id}/hook"),
    ("DELETE", "/v1/schedules/{id}/hook"),
    ("POST", "/v1/hooks/watch/{token}"),
    ("GET", "/v1/ledger"),
    ("GET", "/v1/ledger/keys"),
    ("GET", "/v1/ledger/verify"),
    ("GET", "/v1/ledger/export"),
    ("GET", "/v1/tool-limits"),
    ("PUT", "/v1/tool-limits"),
    ("GET", "/v1/runtime/tool-limits"),
    ("POST", "/v1/runtime/tool-limits"),
    ("GET", "/v1/assets/{digest}"),
    ("GET", "/v1/hooks/dead-letters"),
    ("GET", "/v1/profiles"),
    ("GET", "/v1/profiles/{name}"),
    ("GET", "/v1/permissions/rules"),
    ("POST", "/v1/permissions/rules"),
    ("DELETE", "/v1/permissions/rules"),
    ("DELETE", "/v1/permissions/rules/{id}"),
    ("POST", "/v1/permissions/check"),
    ("POST", "/v1/permissions/matrix"),
    ("POST", "/v1/permissions/test"),
    ("POST", "/v1/permissions/diff"),
    ("GET", "/v1/permissions/decisions"),
    ("POST", "/v1/runtime/permissions/check"),
    ("POST", "/v1/runtime/permissions/matrix"),
    ("GET", "/v1/tool-surface"),
    ("GET", "/v1/skills"),
    ("POST", "/v1/skills"),
    ("GET", "/v1/skills/{name}"),
    ("PUT", "/v1/skills/{name}"),
    ("DELETE", "/v1/skills/{name}"),
    ("GET", "/v1/me"),
    ("POST", "/v1/signin"),
    ("POST", "/v1/signout"),
    ("POST", "/v1/signin-links"),
    ("GET", "/v1/users"),
    ("POST", "/v1/users"),
    ("PATCH", "/v1/users/{name}"),
    ("DELETE", "/v1/users/{name}"),
    ("GET", "/v1/tokens"),
    ("POST", "/v1/tokens"),
    ("DELETE", "/v1/tokens/{id}"),
    ("GET", "/v1/audit"),
    ("GET", "/v1/mcp/servers"),
    ("POST", "/v1/mcp/servers"),
    ("GET", "/v1/mcp/servers/{name}"),
    ("PUT", "/v1/mcp/servers/{name}"),
    ("DELETE", "/v1/mcp/servers/{name}"),
    ("POST", "/v1/mcp/servers/{name}/refresh"),
    ("POST", "/v1/mcp/servers/{name}/reconnect"),
    ("POST", "/v1/mcp/servers/{name}/tools/accept"),
    ("POST", "/v1/mcp/servers/{name}/tools/{tool}/accept"),
    ("POST", "/v1/mcp/refresh"),
    ("GET", "/v1/mcp/catalog"),
    ("GET", "/v1/mcp/catalog/{name}"),
    ("GET", "/v1/mcp/profiles"),
    ("GET", "/v1/mcp/profiles/{name}"),
    ("GET", "/v1/mcp/slots"),
    ("GET", "/v1/mcp/accounts"),
    ("GET", "/v1/mcp/servers/{name}/login"),
    ("POST", "/v1/mcp/servers/{name}/login"),
    ("POST", "/v1/mcp/servers/{name}/login/refresh"),
    ("POST", "/v1/mcp/servers/{name}/logout"),
    ("POST", "/v1/mcp/oauth/complete"),
    ("GET", "/v1/mcp/oauth/callback"),
    ("GET", "/v1/mcp/oauth/client.json"),
    ("GET", "/v1/secrets"),
    ("PUT", "/v1/secrets/{slot}"),
    ("POST", "/v1/secrets/{slot}/revoke"),
    ("POST", "/v1/secrets/rotate"),
    ("GET", "/health"),
    ("GET", "/metrics"),
    ("GET", "/v1/cluster/nodes/{id}"),
    ("GET", "/v1/cluster/snapshot"),
    ("GET", "/v1/cluster/events"),
    ("POST", "/v1/cluster/services"),
}


@pytest.fixture
def document(tmp_path: Path) -> dict[str, Any]:
    url = f"sqlite:///{tmp_path}/redshank.db"
    settings = load(None, {"HOME": str(tmp_path), "REDSHANK_DATABASE__URL": url})
    return dict(json.loads(json.dumps(api(Console(settings).parts).openapi())))


def operations(document: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method.upper(), path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def test_every_promised_route_is_listed_and_no_other(document: dict[str, Any]) -> None:
    below = {
        (method, f"{prefix}{path}")
        for prefix in ("/v1/workstreams", "/v1/sessions")
        for method, path in WORKSTREAM_ROUTES
    }
    assert set(operations(document)) == below | OTHER_ROUTES


def test_every_operation_says_its_answer_its_problem_its_purpose(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for operation in operations(document).values()]
    assert len(names) == len(set(names))
    for (_, path), operation in operations(document).items():
        assert operation["description"], path
        responses = operation["responses"]
        good = [status for status in responses if status.startswith("2")]
        assert len(good) == 1, path
        assert "default" in responses or path == "/v1/signout", path
        assert "422" not in responses, path


def test_the_view_has_the_fields_that_clients_know(document: dict[str, Any]) -> None:
    view = document["components"]["schemas"]["WorkstreamView"]
    assert set(view["required"]) == {
        "id", "name", "title", "state", "waiting_for", "node", "profile", "persona", "mode",
        "model", "owner", "labels", "parent", "usage", "pending_approvals", "pending_questions",
        "last_seq", "detail", "created_at", "updated_at",
    }  # fmt: skip
