"""What an agent shows, over HTTP: a workstream's list, the bytes under policies of their own."""

import pytest

from redshank_shared.domain.artifact_events import AssetPart, OutputEmitted, PreviewOpened, TextPart
from redshank_shared.stores.assets import Assets
from tests.integration.console_world import RunningConsole, fresh_id, now
from tests.integration.kept_assets import append

pytest_plugins = ("tests.integration.console_fixtures",)
pytestmark = pytest.mark.req("T-33")

HTML = b"<script>alert(1)</script>"


async def shown(console: RunningConsole, body: bytes = HTML, source: str = "page.html") -> str:
    """The digest of what a new workstream shows."""
    digest = Assets(console.database).put(body, "text/html; charset=utf-8", now())
    opened = PreviewOpened("web", "Page", digest, source, "text/html", len(body), "call_1")
    append(console.database, await console.create(), opened)
    return digest


async def test_a_workstream_lists_its_previews_the_newest_first(both: RunningConsole) -> None:
    ws = await both.create()
    digest = Assets(both.database).put(HTML, "text/html", now())
    for source in ("a.html", "b.html"):
        opened = PreviewOpened("web", source, digest, source, "text/html", len(HTML), "call_1")
        append(both.database, ws, opened)

    for prefix in ("workstreams", "sessions"):
        page = (await both.client.get(f"/v1/{prefix}/{ws}/previews")).json()
        assert (page["total"], page["next_cursor"]) == (2, None)
        newest, oldest = page["items"]
        assert oldest["source"] == "a.html"
        assert {key: newest[key] for key in newest if key not in ("seq", "at")} == {
            "call_id": "call_1",
            "kind": "web",
            "title": "b.html",
            "digest": digest,
            "source": "b.html",
            "media_type": "text/html",
            "size": len(HTML),
        }
    (event,) = [one for one in await both.events(ws) if one.get("source") == "b.html"]
    assert (event["kind"], event["shows"], event["seq"]) == (
        "preview.opened",
        "web",
        newest["seq"],
    )


@pytest.mark.req("K-14")
async def test_an_output_stands_in_the_log_in_order(both: RunningConsole) -> None:
    ws = await both.create()
    parts = (TextPart("See"), AssetPart("sha256:" + "0" * 64, "image/png", 5))
    append(both.database, ws, OutputEmitted("call_1", parts, inline=True))

    event = (await both.events(ws))[-1]

    assert (event["kind"], event["inline"]) == ("output.emitted", True)
    assert event["parts"] == [
        {"type": "text", "text": "See"},
        {
            "type": "asset",
            "asset_id": "sha256:" + "0" * 64,
            "media_type": "image/png",
            "size": 5,
        },
    ]


async def test_a_fork_keeps_what_its_log_shows(both: RunningConsole) -> None:
    ws = await both.create()
    digest = Assets(both.database).put(HTML, "text/html", now())
    opened = PreviewOpened("web", "Page", digest, "a.html", "text/html", len(HTML), "call_1")
    append(both.database, ws, opened)

    answer = await both.client.post(
        f"/v1/workstreams/{ws}/fork", json={"after": len(await both.events(ws))}
    )

    assert answer.status_code == 201, answer.text
    fork = answer.json()["id"]
    page = (await both.client.get(f"/v1/workstreams/{fork}/previews")).json()
    assert [item["digest"] for item in page["items"]] == [digest]
    assert Assets(both.database).referred(digest, fork) is not None


async def test_bytes_that_no_workstream_refers_to_are_not_given_out(both: RunningConsole) -> None:
    digest = Assets(both.database).put(HTML, "text/html", now())

    assert (await both.client.get(f"/v1/assets/{digest}")).status_code == 404


async def test_who_has_not_signed_in_sees_neither(console: RunningConsole) -> None:
    digest = await shown(console)
    async with console.new_client() as stranger:
        for path in (f"/v1/assets/{digest}", f"/v1/assets/{digest}?as=text/html"):
            assert (await stranger.get(path)).status_code == 401


async def test_a_page_is_shown_without_scripts_and_remote_loads(console: RunningConsole) -> None:
    answer = await console.client.get(f"/v1/assets/{await shown(console)}?as=text/html")

    assert (answer.status_code, answer.content) == (200, HTML)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-disposition"].startswith("inline")
    assert answer.headers["content-security-policy"] == (
        "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        "frame-ancestors 'self'"
    )
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"


async def test_a_viewer_may_turn_both_on_in_a_sandbox_without_an_origin(
    console: RunningConsole,
) -> None:
    answer = await console.client.get(f"/v1/assets/{await shown(console)}?as=text/html&live=true")

    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src http: https:")
    assert "allow-same-origin" not in policy
    assert "form-action 'none'" in policy


@pytest.mark.parametrize("media_type", ["application/pdf", "image/png", "image/svg+xml"])
async def test_other_kinds_are_shown_as_they_are_asked_for(
    console: RunningConsole, media_type: str
) -> None:
    digest = await shown(console, b"%PDF-1.7")

    answer = await console.client.get(f"/v1/assets/{digest}", params={"as": media_type, "live": 1})

    assert answer.headers["content-type"] == media_type
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "allow-scripts" not in policy
    assert policy.startswith("sandbox; ") is (media_type != "application/pdf")


@pytest.mark.parametrize(
    "media_type", ["text/javascript", "text/xml", "application/xhtml+xml", "x"]
)
async def test_no_other_type_is_shown(standing: RunningConsole, media_type: str) -> None:
    digest = await shown(standing)

    answer = await standing.client.get(f"/v1/assets/{digest}", params={"as": media_type})

    assert (answer.status_code, answer.json()["field"]) == (422, "as")


async def test_without_a_type_bytes_are_downloaded(console: RunningConsole) -> None:
    answer = await console.client.get(f"/v1/assets/{await shown(console)}")

    assert answer.headers["content-disposition"].startswith("attachment")


async def test_the_previews_of_no_workstream_are_refused(console: RunningConsole) -> None:
    answer = await console.client.get(f"/v1/workstreams/{fresh_id('ws')}/previews")

    assert answer.status_code == 404
