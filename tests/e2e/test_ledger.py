"""The ledger of a real `redshank up`: its key, its records, a database that somebody wrote to."""

import json
import sqlite3
import stat
import urllib.request
from pathlib import Path

import pytest

from tests.e2e.redshank_up import Home

pytestmark = pytest.mark.timeout(120)


def ran(home: Home, *words: str, exits: int = 0) -> str:
    done = home.run(*words)
    assert done.returncode == exits, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def write(home: Home, statement: str) -> None:
    """As somebody does who can reach the file but not the key."""
    with sqlite3.connect(home.data / "redshank.db") as connection:
        assert connection.execute(statement).rowcount == 1
    connection.close()


def health(home: Home) -> dict[str, object]:
    with urllib.request.urlopen(f"http://127.0.0.1:{home.node_port}/health") as answer:
        return dict(json.load(answer))


@pytest.mark.req("K-7", "B-8")
def test_what_agents_did_is_signed_and_every_kind_of_tampering_is_found(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with home.up() as up:
        up.ready()
        key = home.data / "ledger.key"
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
        for name in ("one", "two", "three"):
            ran(home, "run", "--mode", "bypassPermissions", f"run: echo {name}", "--wait")
        said = ran(home, "ledger", "verify")
        assert "3 records of 3 workstreams: all is whole" in said
        told = health(home)
        assert told["ledger_key_kept"] is True
        assert str(told["ledger_key"]) in said
        exported = home.run("ledger", "export").stdout
        (tmp_path / "ledger.jsonl").write_text(exported)

        first = "rowid = (SELECT min(rowid) FROM ledger)"
        write(home, f"UPDATE ledger SET record = replace(record, '\"ok\"', '\"no\"') WHERE {first}")
        assert "changed" in ran(home, "ledger", "verify", exits=1)
        write(home, f"DELETE FROM ledger WHERE {first}")
        assert "missing" in ran(home, "ledger", "verify", exits=1)
        write(home, f"UPDATE ledger SET position = 2 WHERE {first}")
        assert "reordered" in ran(home, "ledger", "verify", exits=1)
        write(home, f"UPDATE ledger SET key_id = 'a0b1c2d3e4f50617' WHERE {first}")
        assert "foreign" in ran(home, "ledger", "verify", exits=1)
    said = ran(home, "ledger", "verify", "--file", str(tmp_path / "ledger.jsonl"))
    assert "3 records of 3 workstreams: all is whole" in said

    key.chmod(0o644)
    with home.up() as up:
        assert up.process.wait(60) == 2
        assert "chmod 600" in up.text
