"""`redshank approvals`, `redshank questions` against a real console."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from redshank_console.cli.exits import NOT_FOUND, REFUSED, USAGE, code_of
from redshank_console.cli.main import app
from redshank_shared.domain.errors import RedshankError
from tests.integration.asked_questions import asked
from tests.integration.console_world import TOKEN, NodeSide, RunningConsole, fresh_id

pytest_plugins = ("tests.integration.console_fixtures",)


class Shell:
    """Types commands at one console."""

    def __init__(self, world: RunningConsole) -> None:
        self._options = ("--url", world.url, "--token", TOKEN)
        self._runner = CliRunner(env={"HOME": "/nonexistent", "COLUMNS": "200"})

    async def __call__(self, *words: str) -> tuple[str, str]:
        """What `redshank` with these words prints as data, as words beside it."""
        done = await asyncio.to_thread(
            self._runner.invoke, app, [*words, *self._options], catch_exceptions=False
        )
        assert done.exit_code == 0, done.output
        return done.stdout, done.stderr

    async def refusal(self, *words: str) -> RedshankError:
        """The error that the command ends with."""
        with pytest.raises(RedshankError) as caught:
            await self(*words)
        return caught.value


@pytest.fixture
def shell(console: RunningConsole) -> Shell:
    return Shell(console)


async def answers(world: RunningConsole, ws: Any) -> list[dict[str, Any]]:
    """What was answered, without the request's id."""
    (fact,) = [event for event in await world.events(ws) if event["kind"] == "question.answered"]
    for each in fact["answers"]:
        each["question_id"] = each["question_id"].partition(".")[2]
    return list(fact["answers"])


async def resolved(world: RunningConsole, ws: Any) -> dict[str, Any]:
    (fact,) = [event for event in await world.events(ws) if event["kind"] == "approval.resolved"]
    return fact


@pytest.mark.req("B-30")
@pytest.mark.parametrize(
    ("first", "second", "options", "text"),
    [
        ("2", "1,2", [["o2"], ["o1", "o2"]], ["", ""]),
        ("Green", "black", [["o1"], ["o2"]], ["", ""]),
        ("o2", "black, later", [["o2"], []], ["", "black, later"]),
        ("neither, thanks", "o1,o2", [[], ["o1", "o2"]], ["neither, thanks", ""]),
    ],
)
async def test_an_answer_is_a_number_an_id_a_label_or_words_of_ones_own(
    console: RunningConsole,
    shell: Shell,
    first: str,
    second: str,
    options: list[list[str]],
    text: list[str],
) -> None:
    ws, request_id = await asked(console)
    _, said = await shell("questions", "answer", "tea", first, second)
    assert said == f"{request_id} answered; {ws} is running\n"
    given = await answers(console, ws)
    assert [each["option_ids"] for each in given] == options
    assert [each["text"] for each in given] == text


async def test_what_is_asked_is_listed_and_shown_with_the_command_that_answers(
    console: RunningConsole, shell: Shell
) -> None:
    _, request_id = await asked(console)
    listed, _ = await shell("questions", "ls")
    assert "Which tea?" in listed
    assert "green / black" in listed
    (item,) = json.loads((await shell("questions", "ls", "-o", "json"))[0])
    assert item["request_id"] == request_id
    _, said = await shell("ws", "show", "tea")
    assert "the agent asks: Which tea?\n  1. green\n  2. black\n" in said
    assert f"redshank questions answer {request_id} ANSWER ANSWER" in said


async def test_a_question_is_cancelled_and_wrong_use_changes_nothing(
    console: RunningConsole, shell: Shell
) -> None:
    ws, request_id = await asked(console)
    before = await console.events(ws)
    few = await shell.refusal("questions", "answer", request_id, "1")
    assert (code_of(few), few.detail) == (
        USAGE,
        f"{request_id} asks 2, you answer 1: give one ANSWER for each question",
    )
    unknown = await shell.refusal("questions", "answer", fresh_id("qst"), "1", "1")
    assert code_of(unknown) == NOT_FOUND
    assert await console.events(ws) == before
    _, said = await shell("questions", "cancel", request_id[:20])
    assert said == f"{request_id} cancelled; {ws} is running\n"
    await console.client.post(f"/v1/workstreams/{ws}/cancel")
    gone = await shell.refusal("questions", "answer", "tea", "1", "1")
    assert code_of(gone) == REFUSED


async def test_an_approval_takes_its_edit_from_a_file_with_its_reason(
    console: RunningConsole, shell: Shell, tmp_path: Path
) -> None:
    ws = await console.create(name="reeds", message="run it")
    await NodeSide(console, ws).ask_to_run("rm -rf build")
    edit = tmp_path / "input.json"
    edit.write_text('{"command": "ls build"}')
    words = ("--input", str(edit), "--scope", "workstream", "--justification", "look first")
    await shell("approvals", "allow", "reeds", *words)
    fact = await resolved(console, ws)
    assert fact["updated_arguments"] == '{"command":"ls build"}'
    assert (fact["scope"], fact["justification"]) == ("workstream", "look first")


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("--input", "/nonexistent/input.json"), "input"),
        (("--edit", "{}", "--input", "-"), "input"),
        (("--edit", "[]"), "edit"),
    ],
)
async def test_an_edit_that_cannot_be_read_answers_nothing(
    console: RunningConsole, shell: Shell, words: tuple[str, ...], field: str
) -> None:
    ws = await console.create(name="reeds", message="run it")
    await NodeSide(console, ws).ask_to_run("rm -rf build")
    refused = await shell.refusal("approvals", "allow", "reeds", *words)
    assert (code_of(refused), refused.field) == (USAGE, field)
    assert len((await console.view(ws))["pending_approvals"]) == 1


@pytest.mark.req("B-21")
async def test_always_is_said_on_the_command_line_too(
    console: RunningConsole, shell: Shell
) -> None:
    ws = await console.create(name="reeds", message="run it")
    await NodeSide(console, ws).ask_to_run("ls")
    await shell("approvals", "allow", "reeds", "--scope", "always")
    assert (await resolved(console, ws))["scope"] == "always"
    rules = (await console.client.get("/v1/permissions/rules")).json()["items"]
    assert [(rule["pattern"], rule["origin"]) for rule in rules] == [("bash", "approval")]
