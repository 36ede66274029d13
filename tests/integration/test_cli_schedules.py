"""`redshank schedules` against a real console."""

import asyncio
import json
from typing import Any

import pytest
from typer.testing import CliRunner

from redshank_console.cli.exits import NOT_FOUND, REFUSED, USAGE, code_of
from redshank_console.cli.main import app
from redshank_shared.domain.errors import RedshankError
from tests.integration.console_world import TOKEN, RunningConsole

pytest_plugins = ("tests.integration.console_fixtures",)


class Shell:
    """Types commands at one console."""

    def __init__(self, world: RunningConsole) -> None:
        self._options = ("--url", world.url, "--token", TOKEN)
        self._runner = CliRunner(env={"HOME": "/nonexistent", "COLUMNS": "200"})

    async def __call__(self, *words: str) -> tuple[str, str]:
        """What `redshank schedules` with these words prints as data, as words beside it."""
        done = await asyncio.to_thread(
            self._runner.invoke, app, ["schedules", *words, *self._options], catch_exceptions=False
        )
        assert done.exit_code == 0, done.output
        return done.stdout, done.stderr

    async def data(self, *words: str) -> Any:
        return json.loads((await self(*words, "-o", "json"))[0])

    async def refusal(self, *words: str) -> RedshankError:
        """The error that the command ends with."""
        with pytest.raises(RedshankError) as caught:
            await self(*words)
        return caught.value


@pytest.fixture
async def shell(console: RunningConsole) -> Shell:
    """A shell beside a console with one workstream called `reeds`."""
    await console.create(name="reeds")
    return Shell(console)


@pytest.mark.req("B-30")
@pytest.mark.parametrize(
    ("options", "cadence", "when"),
    [
        (
            ("--once", "2099-11-30T09:00:00Z"),
            {"once": {"at": "2099-11-30T09:00:00.000Z"}},
            "once at 2099-11-30T09:00:00.000Z",
        ),
        (("--every", "5m"), {"interval": {"every_seconds": 300}}, "every 300 s"),
        (
            ("--cron", "0 7 * * 1", "--timezone", "Europe/Berlin"),
            {"cron": {"expression": "0 7 * * 1", "timezone": "Europe/Berlin"}},
            "cron 0 7 * * 1 in Europe/Berlin",
        ),
        (
            ("--watch", "cat x", "--poll-every", "30s", "--stop-on", "exit_code != 0"),
            {
                "watch": {
                    "command": "cat x",
                    "poll_every": 30,
                    "stop_on": "exit_code != 0",
                    "max_polls": 100,
                }
            },
            "polls every 30 s",
        ),
    ],
)
async def test_each_cadence_is_made_by_its_option_then_listed(
    shell: Shell, options: tuple[str, ...], cadence: dict[str, Any], when: str
) -> None:
    made = await shell.data("create", "reeds", "tide", "--message", "look", *options)
    assert (made["name"], made["message"], made["cadence"]) == ("tide", "look", cadence)
    (listed,) = await shell.data("ls", "--workstream", "reeds")
    assert listed["id"] == made["id"]
    table, _ = await shell("ls")
    head, row = table.splitlines()
    assert head.split()[:3] == ["ID", "STATE", "WHEN"]
    assert row.startswith(made["id"])
    assert f"active  {when}" in row


async def test_a_schedule_is_shown_by_name_id_or_beginning(shell: Shell) -> None:
    made = await shell.data(
        "create", "reeds", "tide", "--every", "1h", "--message", "m", "--max-executions", "3"
    )
    for named in ("tide", made["id"], made["id"][:20]):
        shown, _ = await shell("show", named)
        facts = dict(line.split(maxsplit=1) for line in shown.splitlines() if line[0] != " ")
        assert (facts["id"], facts["runs"], facts["message"]) == (made["id"], "0 of 3", "m")


async def test_a_watch_says_what_it_looks_at_until_when(shell: Shell) -> None:
    shown, _ = await shell("create", "reeds", "door", "--watch", "ls")
    assert "watches     ls\n" in shown
    assert "until       its output changes, at most 100 polls\n" in shown


@pytest.mark.req("K-90")
async def test_each_change_says_how_it_stands_then(shell: Shell) -> None:
    await shell("create", "reeds", "tide", "--every", "1h", "--message", "m")
    for what, state in [
        ("pause", "paused\n"),
        ("resume", "active, due next at 2"),
        ("trigger", "active, due next at 2"),
        ("cancel", "canceled\n"),
    ]:
        _, said = await shell(what, "tide")
        assert f" is {state}" in said
    shown, _ = await shell("show", "tide")
    assert "canceled by admin" in shown
    assert "DUE" in shown
    assert "triggered" in shown


async def test_a_name_is_of_the_schedule_that_lives_before_those_that_are_over(
    shell: Shell,
) -> None:
    options = ("--every", "1h", "--message", "m")
    await shell("create", "reeds", "tide", *options)
    await shell("cancel", "tide")
    second = await shell.data("create", "reeds", "tide", *options)
    assert (await shell.data("show", "tide"))["id"] == second["id"]


async def test_what_is_refused_ends_with_its_code(shell: Shell) -> None:
    options = ("--every", "1h", "--message", "m")
    await shell("create", "reeds", "tide", *options)
    refusals = {
        ("show", "ebb"): NOT_FOUND,
        ("create", "nowhere", "ebb", *options): NOT_FOUND,
        ("create", "reeds", "tide", *options): REFUSED,
        ("create", "reeds", "ebb", "--message", "m"): USAGE,
        ("create", "reeds", "ebb", "--every", "soon"): USAGE,
        ("create", "reeds", "ebb", "--every", "1s", "--message", "m"): USAGE,
        ("create", "reeds", "ebb", "--cron", "@daily", *options): USAGE,
    }
    codes = {words: code_of(await shell.refusal(*words)) for words in refusals}
    assert codes == refusals
    assert len(await shell.data("ls")) == 1
