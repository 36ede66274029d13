"""Runtime limits, assets, dead letters over HTTP, `redshank tool-limits` against a console."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from redshank_console.cli.main import app
from redshank_shared.domain.errors import Conflict, Invalid
from redshank_shared.domain.limits import Limits
from redshank_shared.stores.assets import Assets
from redshank_shared.stores.hook_dead_letters import DeadLetter, HookDeadLetters
from redshank_shared.stores.tool_limits import ToolLimits
from tests.integration.console_world import TOKEN, RunningConsole, now
from tests.integration.kept_assets import refer

pytest_plugins = ("tests.integration.console_fixtures",)

PATHS = (("/v1/tool-limits", "PUT"), ("/v1/runtime/tool-limits", "POST"))


@pytest.mark.req("K-81", "K-84")
@pytest.mark.parametrize(("path", "method"), PATHS)
async def test_limits_are_shown_then_changed_under_the_revision_that_was_read(
    both: RunningConsole, path: str, method: str
) -> None:
    before = (await both.client.get(path)).json()
    assert before["revision"] == 0
    assert before["set_at"] is None
    assert before["limits"] == {
        "max_input_bytes": 16777216,
        "max_output_bytes": 16777216,
        "max_result_envelope_bytes": 25165824,
        "max_timeout_ms": 180000,
        "max_parallel_tools": 16,
        "max_calls_per_turn": 256,
        "max_cumulative_output_bytes": 67108864,
        "max_cumulative_result_envelope_bytes": 100663296,
        "max_sandbox": "network_enabled",
    }

    body = {"limits": {"max_parallel_tools": 4}, "expected_revision": 0}
    answer = await both.client.request(method, path, json=body)

    assert answer.status_code == 200
    assert answer.json()["revision"] == 1
    assert answer.json()["limits"] == {**before["limits"], "max_parallel_tools": 4}
    assert (await both.client.get("/v1/tool-limits")).json() == answer.json()
    stale = await both.client.request(method, path, json=body)
    assert (stale.status_code, stale.json()["code"]) == (409, "revision_moved")
    assert stale.json()["field"] == "expected_revision"


@pytest.mark.req("K-81")
@pytest.mark.parametrize(
    ("limits", "field"),
    [
        ({"max_calls_per_turn": 0}, "limits.max_calls_per_turn"),
        ({"max_timeout_ms": -1}, "limits.max_timeout_ms"),
        ({"max_timeout_ms": 2**63}, "limits.max_timeout_ms"),
        ({"max_output_bytes": "9"}, "limits.max_output_bytes"),
        ({"max_parallel_tools": True}, "limits.max_parallel_tools"),
        ({"max_parallel_tools": 1.5}, "limits.max_parallel_tools"),
        ({"max_sandbox": "none"}, "limits.max_sandbox"),
        ({"max_speed": 3}, "limits.max_speed"),
    ],
)
async def test_a_limit_that_cannot_be_is_named_and_nothing_is_changed(
    standing: RunningConsole, limits: dict[str, Any], field: str
) -> None:
    answer = await standing.client.put("/v1/tool-limits", json={"limits": limits})

    assert answer.status_code == 422
    assert answer.json()["field"] == field
    assert (await standing.client.get("/v1/tool-limits")).json()["revision"] == 0


async def test_a_change_that_is_repeated_under_its_key_is_made_once(both: RunningConsole) -> None:
    headers = {"Idempotency-Key": "limits-1"}
    body = {"limits": {"max_timeout_ms": 1000}}
    first = await both.client.put("/v1/tool-limits", json=body, headers=headers)
    again = await both.client.put("/v1/tool-limits", json=body, headers=headers)
    other = await both.client.put(
        "/v1/tool-limits", json={"limits": {"max_timeout_ms": 2000}}, headers=headers
    )

    assert first.json() == again.json()
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    stored = ToolLimits(both.database).current()
    assert stored is not None
    assert (stored.revision, stored.limits) == (1, Limits(max_timeout_ms=1000))


@pytest.mark.req("O8")
async def test_an_asset_is_downloaded_as_it_was_kept_and_never_shown(both: RunningConsole) -> None:
    body = b"<script>alert(1)</script>" * 1000
    digest = Assets(both.database).put(body, "text/html", now())
    refer(both.database, await both.create(), digest)

    answer = await both.client.get(f"/v1/assets/{digest}")

    assert (answer.status_code, answer.content) == (200, body)
    assert answer.headers["content-type"] == "text/html"
    assert answer.headers["etag"] == f'"{digest}"'
    name = digest.removeprefix("sha256:")[:16]
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}.bin"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"].startswith("sandbox")
    known = await both.client.get(
        f"/v1/assets/{digest}", headers={"If-None-Match": answer.headers["etag"]}
    )
    assert (known.status_code, known.content) == (304, b"")


@pytest.mark.parametrize(
    ("digest", "status", "code"),
    [("sha256:" + "0" * 64, 404, "not_found"), ("0" * 63, 422, "malformed_digest")],
)
async def test_an_asset_that_is_not_there_is_refused_clearly(
    console: RunningConsole, digest: str, status: int, code: str
) -> None:
    answer = await console.client.get(f"/v1/assets/{digest}")

    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["field"] == "digest"


@pytest.mark.parametrize("path", ["/v1/assets/" + "0" * 64, "/v1/tool-limits"])
async def test_nothing_is_shown_to_who_has_not_signed_in(
    console: RunningConsole, path: str
) -> None:
    async with console.new_client() as stranger:
        assert (await stranger.get(path)).status_code == 401


@pytest.mark.req("K-80")
async def test_hooks_that_gave_no_answer_are_listed(console: RunningConsole) -> None:
    letters = HookDeadLetters(console.database)
    for number in range(3):
        at = f"2026-11-30T08:15:0{number}.000Z"
        letters.add(DeadLetter(f"hdl_{number}", at, "gate", "ws_1", "call_1", 2, "hung", "{}"))

    page = (await console.client.get("/v1/hooks/dead-letters", params={"limit": 2})).json()

    assert [item["id"] for item in page["items"]] == ["hdl_2", "hdl_1"]
    assert page["total"] == 3
    assert page["items"][0]["detail"] == "hung"
    rest = await console.client.get(
        "/v1/hooks/dead-letters", params={"cursor": page["next_cursor"]}
    )
    assert [item["id"] for item in rest.json()["items"]] == ["hdl_0"]


async def typed(console: RunningConsole, *words: str) -> str:
    """What `redshank tool-limits` with these words prints as data."""
    options = ("--url", console.url, "--token", TOKEN)
    done = await asyncio.to_thread(
        CliRunner(env={"HOME": "/nonexistent"}).invoke,
        app,
        ["tool-limits", *words, *options],
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.req("K-84", "B-30")
async def test_limits_are_got_and_set_by_the_command_line(
    console: RunningConsole, tmp_path: Path
) -> None:
    file = tmp_path / "limits.json"
    file.write_text('{"max_parallel_tools": 2}')

    assert "max_parallel_tools                    2\n" in await typed(
        console, "set", "--file", str(file)
    )
    read = json.loads(await typed(console, "get", "-o", "json"))
    assert (read["revision"], read["limits"]["max_parallel_tools"]) == (1, 2)
    # What was read is set again under its revision: the second time it has moved.
    file.write_text(json.dumps(read))
    await typed(console, "set", "--file", str(file))
    with pytest.raises(Conflict, match="revision 2, not 1"):
        await typed(console, "set", "--file", str(file))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"max_parallel_tools": 0}', "max_parallel_tools is 0"),
        ("[]", "not a JSON object"),
        ("{", "not a JSON object"),
        (None, "cannot be read"),
    ],
)
async def test_a_file_that_cannot_be_is_refused_with_the_mend(
    standing: RunningConsole, tmp_path: Path, text: str | None, words: str
) -> None:
    file = tmp_path / "limits.json"
    if text is not None:
        file.write_text(text)

    with pytest.raises(Invalid, match=words):
        await typed(standing, "set", "--file", str(file))
