"""A start with another master key than the vault's is refused and overwrites nothing."""

import base64
import subprocess
from pathlib import Path

from tests.e2e.redshank_up import Home

VALUE = "canary-under-the-first-key"


def set_secret(home: Home, slot: str) -> None:
    done = subprocess.run(
        home.command("secrets", "set", slot),
        cwd=home.workspace,
        env=home.environ,
        input=VALUE,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_a_wrong_master_key_stops_the_start_until_the_right_one_is_back(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    key_file = home.data / "vault.key"
    with home.up() as up:
        up.ready()
        set_secret(home, "model.main")
    right = key_file.read_text()
    assert key_file.stat().st_mode & 0o777 == 0o600
    key_file.write_text(f"{base64.b64encode(bytes(32)).decode()}\n")
    with home.up() as refused:
        assert refused.process.wait(60) != 0
        assert "is sealed under the master key" in refused.text
        assert "add that key to the file that vault.key_file names" in refused.text
    key_file.write_text(right)
    key_file.chmod(0o644)
    with home.up() as exposed:
        assert exposed.process.wait(60) != 0
        assert f"chmod 600 {key_file}" in exposed.text
    key_file.chmod(0o600)
    with home.up() as up:
        up.ready()
        listed = home.run("secrets", "ls")
        assert "model.main  live   1" in listed.stdout
        # The same value again is no new version: it opened.
        set_secret(home, "model.main")
        assert "model.main  live   1" in home.run("secrets", "ls").stdout
