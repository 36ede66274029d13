"""The ledger over HTTP and on the command line: listed, exported, checked."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, update
from typer.testing import CliRunner, Result

from redshank_console.cli.main import app
from redshank_shared.domain.errors import Invalid
from redshank_shared.ledger.signing import SigningKey, new_key
from redshank_shared.stores.ledger import Ledger
from redshank_shared.stores.tables import ledger
from tests.integration.console_world import TOKEN, RunningConsole
from tests.integration.test_ledger_store import Stored
from tests.unit.ledger_building import BEFORE, WS

pytest_plugins = ("tests.integration.console_fixtures",)

OTHER = "ws_0000000000000000000002"


@pytest.fixture
def key(console: RunningConsole) -> SigningKey:
    """Two workstreams, three records and one, all signed with this key."""
    made = new_key()
    Ledger(console.database).register(made.key_id, made.public_key, BEFORE)
    for workstream, calls in ((WS, 3), (OTHER, 1)):
        log = Stored(console.database, made, workstream)
        for turn in range(1, calls + 1):
            log.run(f"cl_{turn}")
    return made


class Shell:
    """Types `redshank ledger` commands at one console."""

    def __init__(self, world: RunningConsole) -> None:
        self._options = ("--url", world.url, "--token", TOKEN)
        self._runner = CliRunner(env={"HOME": "/nonexistent", "COLUMNS": "200"})

    async def __call__(self, *words: str) -> Result:
        return await asyncio.to_thread(
            self._runner.invoke, app, ["ledger", *words, *self._options], catch_exceptions=False
        )


@pytest.fixture
def shell(console: RunningConsole) -> Shell:
    return Shell(console)


async def answered(console: RunningConsole, path: str, **query: str) -> dict[str, Any]:
    answer = await console.client.get(f"/v1/ledger{path}", params=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def forge(console: RunningConsole, position: int, **values: str) -> None:
    row = (ledger.c.workstream_id == WS) & (ledger.c.position == position)
    with console.database.begin() as connection:
        connection.execute(
            update(ledger).where(row).values(values) if values else delete(ledger).where(row)
        )


@pytest.mark.req("K-7")
async def test_records_are_listed_with_what_they_say(
    console: RunningConsole, key: SigningKey
) -> None:
    page = await answered(console, "", workstream=WS, limit="2")
    assert [(item["position"], item["tool"]) for item in page["items"]] == [
        (1, "do_process"),
        (2, "do_process"),
    ]
    first = page["items"][0]
    assert (first["outcome"], first["node"], first["key_id"]) == ("ok", "marsh-1", key.key_id)
    assert json.loads(first["record"])["response_digest"] == first["response_digest"]
    rest = await answered(console, "", workstream=WS, cursor=page["next_cursor"])
    assert ([item["position"] for item in rest["items"]], rest["total"]) == ([3], 3)
    assert (await answered(console, ""))["total"] == 4
    keys = await answered(console, "/keys")
    assert [item["key_id"] for item in keys["items"]] == [key.key_id]


@pytest.mark.fault("F69")
@pytest.mark.parametrize("path", ["?workstream=reed", "?tide=1", "/verify?workstream=x"])
async def test_a_query_that_cannot_be_is_refused(console: RunningConsole, path: str) -> None:
    answer = await console.client.get(f"/v1/ledger{path}")
    assert (answer.status_code, answer.json()["status"]) == (422, 422)


@pytest.mark.req("B-8")
async def test_the_console_says_whether_a_ledger_is_whole(
    console: RunningConsole, key: SigningKey
) -> None:
    report = await answered(console, "/verify")
    assert (report["whole"], report["records"], report["workstreams"]) == (True, 4, 2)
    forge(console, 2)
    report = await answered(console, "/verify", workstream=WS)
    assert report["whole"] is False
    assert [(f["workstream"], f["position"], f["wrong"]) for f in report["findings"]] == [
        (WS, 2, "missing")
    ]
    assert (await answered(console, "/verify", workstream=OTHER))["whole"] is True


@pytest.mark.req("B-8", "B-30")
async def test_the_command_line_checks_a_console_s_ledger(
    console: RunningConsole, key: SigningKey, shell: Shell
) -> None:
    done = await shell("verify")
    assert (done.exit_code, done.stdout) == (0, "")
    assert f"4 records of 2 workstreams: all is whole; signed by {key.key_id}" in done.stderr
    forge(console, 3)
    done = await shell("verify", "--workstream", WS)
    assert done.exit_code == 1
    assert "missing" in done.stdout
    assert "call cl_3" in done.stdout
    done = await shell("verify", "--workstream", OTHER, "-o", "json")
    assert (done.exit_code, json.loads(done.stdout)["findings"]) == (0, [])
    done = await shell("verify", "--workstream", OTHER, "--key", "0123456789abcdef")
    assert done.exit_code == 1
    assert "no known key signed it" in done.stdout


@pytest.mark.req("B-8")
async def test_an_export_is_checked_without_a_console(
    console: RunningConsole, key: SigningKey, shell: Shell, tmp_path: Path
) -> None:
    file = tmp_path / "ledger.jsonl"
    file.write_text((await shell("export")).stdout)
    assert json.loads(file.read_text().splitlines()[-1]) == {"kind": "end", "lines": 9}
    assert (await shell("verify", "--file", str(file))).exit_code == 0
    alone = await shell("export", "--workstream", OTHER)
    assert len(alone.stdout.splitlines()) == 4

    text = file.read_text()
    file.write_text(text.replace("marsh-1", "marsh-2", 1))
    done = await shell("verify", "--file", str(file))
    assert done.exit_code == 1
    assert "changed" in done.stdout
    file.write_text("".join(text.splitlines(keepends=True)[:-1]))
    with pytest.raises(Invalid, match="not whole"):
        await shell("verify", "--file", str(file))
    with pytest.raises(Invalid, match="cannot be read"):
        await shell("verify", "--file", str(tmp_path / "none"))


@pytest.mark.req("B-30")
async def test_records_are_listed_on_the_command_line(key: SigningKey, shell: Shell) -> None:
    done = await shell("ls", "--workstream", WS)
    assert done.stdout.splitlines()[0].split()[:3] == ["WORKSTREAM", "NO", "AT"]
    assert len(done.stdout.splitlines()) == 4
    assert [item["position"] for item in json.loads((await shell("ls", "-o", "json")).stdout)] == [
        1,
        2,
        3,
        1,
    ]
