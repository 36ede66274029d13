"""`redshank permissions` and `redshank ws why` against a real console."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from redshank_console.cli.exits import NOT_FOUND, REFUSED, USAGE, code_of
from redshank_console.cli.main import app
from redshank_shared.domain.errors import RedshankError
from redshank_shared.domain.events import MODES
from redshank_shared.profiles.profile import load
from tests.integration.console_world import TOKEN, NodeSide, RunningConsole
from tests.integration.test_console_permissions import POLICY, SEARCH, with_node

pytest_plugins = ("tests.integration.console_fixtures",)

# K-35, from its own text: the mode's decision in the order default, acceptEdits, bypassPermissions,
# plan, dontAsk.
ROWS = {
    "bash": "ask ask allow deny deny",
    "write_file": "ask allow allow deny deny",
    "edit_file": "ask allow allow deny deny",
    "apply_patch": "ask allow allow deny deny",
    "mcp__linear__search": "ask ask allow deny deny",
    "list_mcp_resources": "ask ask allow ask deny",
    "list_mcp_resource_templates": "ask ask allow ask deny",
    "read_mcp_resource": "ask ask allow ask deny",
    "read_file": "allow allow allow allow allow",
    "list_files": "allow allow allow allow allow",
    "glob_search": "allow allow allow allow allow",
    "grep_search": "allow allow allow allow allow",
    "web_search": "allow allow allow allow allow",
    "schedule_list": "allow allow allow allow allow",
    "get_goal": "allow allow allow allow allow",
    "exit_plan_mode": "ask ask allow ask deny",
    "schedule_create": "allow allow allow deny allow",
    "wake_after": "allow allow allow deny allow",
    "notify_operator": "allow allow allow deny allow",
}


class Shell:
    """Types commands at one console."""

    def __init__(self, world: RunningConsole) -> None:
        self._options = ("--url", world.url, "--token", TOKEN)
        self._runner = CliRunner(env={"HOME": "/nonexistent", "COLUMNS": "200"})

    async def __call__(self, *words: str, exits: int = 0) -> tuple[str, str]:
        """What `redshank` with these words prints as data, as words beside it."""
        done = await asyncio.to_thread(
            self._runner.invoke, app, [*words, *self._options], catch_exceptions=False
        )
        assert done.exit_code == exits, done.output
        return done.stdout, done.stderr

    async def data(self, *words: str) -> Any:
        return json.loads((await self(*words, "-o", "json"))[0])

    async def refusal(self, *words: str) -> RedshankError:
        """The error that the command ends with."""
        with pytest.raises(RedshankError) as caught:
            await self(*words)
        return caught.value


def facts(text: str) -> dict[str, str]:
    return dict(line.split("  ", 1) for line in text.splitlines())


@pytest.fixture
async def shell(console: RunningConsole) -> Shell:
    """A shell beside a console with one node, which has one more tool of a server."""
    with_node(console, SEARCH)
    return Shell(console)


@pytest.mark.req("K-35")
@pytest.mark.req("K-48")
async def test_the_matrix_of_kheish_is_that_of_the_requirement(shell: Shell) -> None:
    printed, _ = await shell("permissions", "matrix", "--profile", "kheish")
    head, *lines = printed.splitlines()
    assert head.split()[:6] == ["TOOL", *MODES]
    rows = {line.split()[0]: line.split() for line in lines}
    assert set(rows) == {card.name for card in load("kheish").tools} | {SEARCH.name}
    for tool, decisions in ROWS.items():
        assert rows[tool][1:6] == decisions.split(), tool
    # All the rest: as the rule says, denied in plan unless on its list (K-35, K-37, O4).
    plan = {card.name: card.plan for card in load("kheish").tools}
    for tool in set(rows) - set(ROWS):
        in_plan = "allow" if plan[tool] else "deny"
        assert rows[tool][1:6] == ["allow", "allow", "allow", in_plan, "allow"], tool


async def test_the_matrix_without_a_profile_is_that_of_the_nodes(shell: Shell) -> None:
    view = await shell.data("permissions", "matrix", "--mode", "accept-edits")
    assert view["modes"] == ["acceptEdits"]
    assert {row["tool"] for row in view["rows"]} >= {"bash", "watch", SEARCH.name}
    # In the catalogue, on no node: agents of agents are not built yet.
    assert "spawn_agent" not in {row["tool"] for row in view["rows"]}


@pytest.mark.req("K-47")
@pytest.mark.parametrize("mode", ["dontAsk", "dont-ask"])
async def test_a_check_says_why_in_either_spelling_of_a_mode(shell: Shell, mode: str) -> None:
    printed, _ = await shell("permissions", "check", "--tool", "bash", "--mode", mode)
    said = {key: value.strip() for key, value in facts(printed).items()}
    assert said == {
        "tool": "bash",
        "decision": "deny",
        "why": "the default rule bash says ask; mode dontAsk makes it deny",
        "rule": "bash ask",
        "scope": "session",
        "origin": "static",
        "mode": "dontAsk, dont_ask_denied_approval",
        "hooks": "not run in a dry run",
    }
    view = await shell.data("permissions", "check", "bash", "--mode", mode)
    assert (view["decision"], view["hooks_evaluated"]) == ("deny", False)
    view = await shell.data("permissions", "check", "watch", "--input", '{"action": "create"}')
    assert view["pattern"] == "watch:create"


async def test_a_check_for_a_workstream_takes_its_mode(
    console: RunningConsole, shell: Shell
) -> None:
    await console.create(name="reeds", mode="plan")
    view = await shell.data("permissions", "check", "bash", "--workstream", "reeds")
    assert (view["decision"], view["effective_mode"]) == ("deny", "plan")


@pytest.mark.req("B-5")
async def test_a_policy_file_is_tested_with_expected_against_got(
    shell: Shell, tmp_path: Path
) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(POLICY)
    printed, said = await shell("permissions", "test", str(file), exits=1)
    assert "2 passed, 1 failed" in said
    good, also_good, wrong = printed.splitlines()[1:]
    assert good.split()[:2] == ["ok", "mcp__linear__search"]
    assert also_good.split()[0] == "ok"
    assert wrong.split()[:6] == ["FAIL", "bash", "default", "kheish", "allow", "ask"]
    assert "decision is ask, expected allow" in wrong
    file.write_text(POLICY.rpartition("[[expect]]")[0])
    _, said = await shell("permissions", "test", str(file))
    assert said == "2 passed, 0 failed\n"


@pytest.mark.req("B-5")
async def test_two_policy_files_are_compared(shell: Shell, tmp_path: Path) -> None:
    before, after = tmp_path / "a.toml", tmp_path / "b.toml"
    before.write_text("")
    after.write_text('[[rule]]\nscope = "user"\npattern = "bash"\ndecision = "allow"')
    words = ("permissions", "matrix", "--profile", "kheish", "--diff", str(before), str(after))
    printed, said = await shell(*words)
    rows = [line.split()[:3] for line in printed.splitlines()[1:]]
    assert rows == [["wider", "bash", mode] for mode in ("default", "acceptEdits", "dontAsk")]
    assert said.endswith("3 wider, 0 narrower\n")
    view = await shell.data(*words)
    assert [change["after"]["scope"] for change in view["changes"]] == ["user"] * 3
    printed, said = await shell("permissions", "rules", "diff", str(after), "--profile", "kheish")
    assert "3 wider" in said


async def test_rules_are_kept_listed_and_taken_away(shell: Shell) -> None:
    _, said = await shell("permissions", "rules", "add", "bash", "deny", "--locked", "--note", "n")
    assert "kept: deny, locked bash for user admin" in said
    await shell("permissions", "rules", "add", "mcp__*", "ask", "--scope", "project")
    printed, _ = await shell("permissions", "rules", "ls")
    head, bash, mcp = printed.splitlines()
    assert head.split()[:4] == ["ID", "SCOPE", "SUBJECT", "PATTERN"]
    assert bash.split()[1:] == ["user", "admin", "bash", "deny,", "locked", "static", "admin", "n"]
    assert mcp.split()[1:4] == ["project", "default", "mcp__*"]
    assert [rule["pattern"] for rule in await shell.data("permissions", "rules", "ls")] == [
        "bash",
        "mcp__*",
    ]
    _, said = await shell("permissions", "rules", "rm", "bash")
    assert " gone: " in said
    await shell("permissions", "rules", "rm", mcp.split()[0][:20])
    assert await shell.data("permissions", "rules", "ls") == []


@pytest.mark.req("O-28")
async def test_an_allow_of_everything_needs_a_yes(shell: Shell) -> None:
    refusal = await shell.refusal("permissions", "rules", "add", "*", "allow")
    assert code_of(refusal) == REFUSED
    assert "bash in default: ask becomes allow" in refusal.detail
    assert "--yes" in refusal.detail
    await shell("permissions", "rules", "add", "*", "allow", "--yes")
    assert (await shell.data("permissions", "check", "bash"))["decision"] == "allow"


async def test_what_is_wrong_is_said_with_its_exit_code(shell: Shell, tmp_path: Path) -> None:
    rubbish = tmp_path / "rubbish.toml"
    rubbish.write_bytes(b"\xff[[rule")
    wrong: list[tuple[tuple[str, ...], int, str]] = [
        (("rules", "add", "bahs", "deny"), USAGE, "did you mean bash?"),
        (("rules", "add", "bash", "maybe"), USAGE, "decision"),
        (("rules", "rm", "nothing"), NOT_FOUND, "rules ls"),
        (("check",), USAGE, "name one tool"),
        (("check", "bash", "--mode", "yolo"), USAGE, "mode"),
        (("check", "bash", "--profile", "keish"), USAGE, "did you mean kheish?"),
        (("check", "bash", "--input", "ls"), USAGE, "JSON object"),
        (("check", "bash", "--workstream", "ws_" + "0" * 22), NOT_FOUND, "no workstream"),
        (("check", "bash", "--workstream", "nobody"), NOT_FOUND, "nobody"),
        (("test", str(tmp_path / "none.toml")), USAGE, "cannot be read"),
        (("test", str(rubbish)), USAGE, "UTF-8"),
        (("matrix", "--mode", "plan", "--diff", "a", "b"), USAGE, "--diff"),
    ]
    for words, code, detail in wrong:
        refusal = await shell.refusal("permissions", *words)
        assert code_of(refusal) == code, words
        assert detail in refusal.detail, words


@pytest.mark.req("B-6")
async def test_why_names_rule_mode_hook_and_person(console: RunningConsole, shell: Shell) -> None:
    ws = await console.create(name="reeds", message="run it")
    (request_id,) = await NodeSide(console, ws).ask_to_run("echo hi")
    (audit,) = (await console.client.get(f"/v1/sessions/{ws}/permission-audits")).json()["items"]
    call = audit["call_id"]
    printed, _ = await shell("ws", "why", call)
    assert "asked, has not answered" in printed
    answer = {"request_id": request_id, "behavior": "deny", "reason": "use make"}
    await console.client.post(f"/v1/workstreams/{ws}/approvals", json={"resolutions": [answer]})
    printed, _ = await shell("ws", "why", call)
    said = {key: value.strip() for key, value in facts(printed).items()}
    assert said["call"] == call
    assert said["workstream"] == ws
    assert said["rule"] == "* ask"
    assert said["mode"] == "default"
    assert said["hook"] == "none settled it"
    assert said["person"].startswith("admin denied it at 2")
    assert said["reason"] == "use make"
    assert said["input"] == "sha256:0"
    (view,) = await shell.data("ws", "why", call[:12])
    assert (view["call_id"], view["resolved_by"]) == (call, "admin")
    for named in (call, call[:6], "bash"):
        (same,) = await shell.data("ws", "why", named, "--workstream", "reeds")
        assert same == {**view, "workstream": None}
    refusal = await shell.refusal("ws", "why", "call_unknown")
    assert code_of(refusal) == NOT_FOUND
    await console.create(name="other")
    refusal = await shell.refusal("ws", "why", call, "--workstream", "other")
    assert code_of(refusal) == NOT_FOUND
