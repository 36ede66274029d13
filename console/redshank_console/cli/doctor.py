"""The command that says what stands, what is missing, how to mend it: `redshank doctor`."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Annotated, Literal

import httpx
import msgspec
import typer

from redshank_console.cli import exits
from redshank_console.cli.connection import Target
from redshank_console.cli.output import write_json, write_table
from redshank_console.cli.processes import Config
from redshank_console.cli.session import Session, with_session
from redshank_console.cli.up import plan
from redshank_console.cli.up.data_folder import VAULT_KEY
from redshank_console.cli.up.ports import refuse_used
from redshank_console.cli.up.valkey import valkey_program
from redshank_shared.clock import now_utc
from redshank_shared.domain.errors import Misconfigured, RedshankError
from redshank_shared.settings.environment import data_folder, process_environment
from redshank_shared.settings.load import load
from redshank_shared.settings.models import check_keys
from redshank_shared.wire.version import VERSION

OLDEST_PYTHON = (3, 11)
LEAST_FREE_BYTES = 1024**3
MOST_SKEW_SECONDS = 5.0
PROGRAM_SECONDS = 5.0
ASK_SECONDS = 5.0
PROBE_SECONDS = 60.0
# Where a program's first line goes on from its version to how it was built.
BUILD = re.compile(r" sha=| \(rev ")
SANDBOX_PROBE = "redshank_node.tools.support.sandbox.probe"
SANDBOX_MEND = "permit user namespaces or Landlock, see docs/sandbox.md"


class SandboxFound(msgspec.Struct, frozen=True):
    """What the node's probe says of this machine."""

    backend: str
    levels: tuple[str, ...]
    reason: str


class Finding(msgspec.Struct, frozen=True):
    """One thing looked at; `mend` says what to do where it is not ok."""

    name: str
    level: Literal["ok", "warn", "fail"]
    says: str
    mend: str = ""


def doctor(
    session: Session,
    config: Config = None,
    data: Annotated[Path | None, typer.Option(help="the folder to look at")] = None,
) -> None:
    """Look at this machine and at the console. Exits 1 if something must be mended."""
    environ = process_environment()
    folder = (data or data_folder(environ)).expanduser()
    findings = [
        look_at_python(sys.version_info[:3]),
        _look_at_valkey(),
        look_at_program("ripgrep", _ripgrep()),
        look_at_settings(config, environ, folder),
        look_at_sandbox(config, environ),
        look_at_disk(folder),
        *look_at_console(session.target),
    ]
    if not any(each.name == "console" and each.level == "ok" for each in findings):
        findings.append(look_at_ports(config, environ))
    if session.wants_json:
        write_json(findings)
    else:
        write_table(("", "WHAT", "FOUND", "MEND"), [_row(each) for each in findings])
    if any(each.level == "fail" for each in findings):
        raise typer.Exit(exits.FAILED)


doctor_command = with_session(doctor)


def look_at_python(running: tuple[int, ...]) -> Finding:
    """Whether this Python is new enough."""
    says = ".".join(str(part) for part in running)
    if running[:2] < OLDEST_PYTHON:
        return Finding("python", "fail", says, "install Python 3.11 or newer, then `make install`")
    return Finding("python", "ok", says)


def look_at_program(name: str, path: str) -> Finding:
    """Whether a program that we bring along runs here."""
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=PROGRAM_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Finding(name, "fail", f"does not run: {error}", "`make install` brings it again")
    says = done.stdout.splitlines()[0] if done.stdout else path
    return Finding(name, "ok", BUILD.split(says)[0])


def look_at_settings(config: Path | None, environ: Mapping[str, str], folder: Path) -> Finding:
    """Whether the configuration can be read and its keys are to be found, for a start there."""
    try:
        environ = plan.with_vault_key(load(config, environ), environ, folder / VAULT_KEY)
        settings = load(config, environ)
        check_keys(settings)
    except RedshankError as error:
        return Finding("settings", "fail", error.detail, "mend that key")
    models = ", ".join(model.name for model in settings.models)
    if settings.models[0].provider == "demo":
        return Finding(
            "settings", "warn", "no model: the demo answers", "see docs/configuration.md, Models"
        )
    return Finding("settings", "ok", f"models: {models}")


def look_at_sandbox(config: Path | None, environ: Mapping[str, str]) -> Finding:
    """Whether a node of this machine can confine the commands of agents."""
    try:
        backend = load(config, environ).sandbox.backend
        done = subprocess.run(
            [sys.executable, "-m", SANDBOX_PROBE, backend],
            capture_output=True,
            timeout=PROBE_SECONDS,
            check=True,
        )
        found = msgspec.json.decode(done.stdout, type=SandboxFound)
    except RedshankError:
        return Finding("sandbox", "warn", "not looked at", "mend the settings first")
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError) as error:
        return Finding("sandbox", "fail", f"cannot be tried: {error}", "`make install`")
    match found.backend:
        case "missing":
            return Finding("sandbox", "warn", f"bash is refused: {found.reason}", SANDBOX_MEND)
        case "none":
            return Finding("sandbox", "warn", found.reason, 'set sandbox.backend = "auto"')
        case confines:
            return Finding("sandbox", "ok", f"{confines}: {', '.join(found.levels)}")


def look_at_disk(folder: Path) -> Finding:
    """Whether the data folder's disk has room."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    free = shutil.disk_usage(there).free
    says = f"{free / 1024**3:.1f} GiB free for {folder}"
    if free < LEAST_FREE_BYTES:
        return Finding("disk", "warn", says, "make room, or choose another folder with --data")
    return Finding("disk", "ok", says)


def look_at_ports(config: Path | None, environ: Mapping[str, str]) -> Finding:
    """Whether the ports of `redshank up` are free."""
    try:
        for wanted in plan.ports(load(config, environ), 1):
            refuse_used(wanted)
    except RedshankError as error:
        return Finding("ports", "fail", error.detail, "choose other ports")
    return Finding("ports", "ok", "free")


def look_at_console(target: Target) -> list[Finding]:
    """What the console says of itself, of the database, of the clock."""
    try:
        answer = httpx.get(f"{target.url}/health", timeout=ASK_SECONDS, trust_env=False)
        health = msgspec.json.decode(answer.content, type=dict[str, object])
    except (httpx.TransportError, msgspec.DecodeError) as error:
        says = f"nothing answers at {target.url} ({error})"
        return [Finding("console", "warn", says, "`redshank up`, or name another with --url")]
    return [
        _console_finding(target.url, answer.status_code, health),
        _version_finding(str(health.get("version", ""))),
        look_at_clock(answer.headers.get("date", ""), now_utc()),
    ]


def look_at_clock(says: str, now: datetime) -> Finding:
    """Whether the console's clock goes with ours, from the Date of its answer."""
    try:
        skew = abs((parsedate_to_datetime(says) - now).total_seconds())
    except (TypeError, ValueError):
        return Finding("clock", "warn", "the console tells no time", "look at what answers there")
    if skew > MOST_SKEW_SECONDS:
        mend = "set both machines' clocks (NTP)"
        return Finding("clock", "warn", f"{skew:.0f} s apart from the console", mend)
    return Finding("clock", "ok", "goes with the console's")


def _console_finding(url: str, status: int, health: Mapping[str, object]) -> Finding:
    if status == httpx.codes.OK:
        return Finding("console", "ok", f"answers at {url}")
    says = f"{url} is not well: {health.get('detail') or health}"
    return Finding("console", "fail", says, "see that the database and Redis answer")


def _version_finding(theirs: str) -> Finding:
    if theirs and theirs != VERSION:
        says = f"console {theirs}, command {VERSION}"
        return Finding("version", "warn", says, "bring both to one version")
    return Finding("version", "ok", VERSION)


def _look_at_valkey() -> Finding:
    try:
        return look_at_program("valkey", valkey_program())
    except Misconfigured as error:
        return Finding("valkey", "warn", error.detail, "`redshank up --redis redis://…`")


def _ripgrep() -> str:
    return shutil.which("rg", path=str(Path(sys.executable).parent)) or shutil.which("rg") or "rg"


def _row(each: Finding) -> tuple[str, ...]:
    return (each.level, each.name, each.says, each.mend)
