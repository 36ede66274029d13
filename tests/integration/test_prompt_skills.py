"""Prompts of MCP servers as skills: on several nodes, beside manual ones, over HTTP."""

import asyncio
import logging
from collections.abc import Callable, Mapping

import msgspec
import pytest

from redshank_node.mcp_client.inventory import Inventory, PromptArgument, RemotePrompt
from redshank_node.mcp_client.prompt_skills import PromptSkills, ServersSeen, prompts_of
from redshank_shared import clock
from redshank_shared.stores.database import Database
from redshank_shared.stores.services import ServiceRow, Services
from redshank_shared.stores.skill_offers import SkillChanges, SkillOffers
from redshank_shared.stores.skills import SkillArgument, SkillFilters, SkillRow, Skills, add_row
from tests.fakes.ports import free_port
from tests.integration.console_world import RunningConsole

pytest_plugins = ("tests.integration.console_fixtures",)

AT = "2026-11-30T08:15:00.250Z"
DEADLINE_SECONDS = 30.0
REVIEW = RemotePrompt(
    "review", "Looks a change over", (PromptArgument("branch", "Which branch", required=True),)
)
SUMMARY = RemotePrompt("sum up", "Says it in few words")
NAMES = ["mcp__git__review", "mcp__git__sum_up"]


class Seen:
    """What a node's servers offer; changing it moves the revision."""

    def __init__(self) -> None:
        self.revision = 0
        self.inventories: Mapping[str, Inventory] = {}

    def now_offers(self, **prompts: tuple[RemotePrompt, ...]) -> None:
        self.revision += 1
        self.inventories = {
            server: Inventory(server, prompts=offered) for server, offered in prompts.items()
        }


def node(
    database: Database, seen: Seen, node_id: str = "nd_1", redact: Callable[[str], str] = str
) -> PromptSkills:
    around = ServersSeen(
        revision=lambda: seen.revision,
        inventories=lambda: seen.inventories,
        redact=redact,
        at=lambda: clock.rfc3339(clock.now_utc()),
        monotonic=clock.monotonic,
    )
    return PromptSkills(database, node_id, around)


def listed(database: Database) -> list[tuple[str, str, str]]:
    page = Skills(database).page(SkillFilters())
    return [(item.row.name, item.row.origin, item.row.server) for item in page.items]


@pytest.mark.req("T-77")
async def test_a_prompt_is_a_skill_from_connect_through_refresh_until_it_is_gone(
    database: Database,
) -> None:
    seen = Seen()
    skills = node(database, seen)
    seen.now_offers(git=(REVIEW, SUMMARY))
    changes = await skills.offer()
    assert sorted(changes.added) == NAMES
    (review,) = Skills(database).named("mcp__git__review")
    assert (review.origin, review.server, review.enabled) == ("mcp", "git", True)
    assert review.description == "Looks a change over"
    assert review.arguments == (SkillArgument("branch", "Which branch", True),)

    seen.now_offers(git=(msgspec.structs.replace(REVIEW, description="Looks twice"), SUMMARY))
    assert await skills.offer() == SkillChanges(changed=("mcp__git__review",))
    (after,) = Skills(database).named("mcp__git__review")
    assert (after.description, after.created_at) == ("Looks twice", review.created_at)

    seen.now_offers(git=(SUMMARY,))
    assert await skills.offer() == SkillChanges(removed=("mcp__git__review",))
    assert listed(database) == [("mcp__git__sum_up", "mcp", "git")]


@pytest.mark.req("T-77")
async def test_the_same_again_writes_nothing(database: Database) -> None:
    seen = Seen()
    seen.now_offers(git=(REVIEW, SUMMARY))
    await node(database, seen).offer()
    (before,) = Skills(database).named("mcp__git__review")
    assert await node(database, seen).offer() == SkillChanges()
    assert await node(database, seen, "nd_2").offer() == SkillChanges()
    assert Skills(database).named("mcp__git__review") == (before,)


@pytest.mark.req("T-77")
async def test_a_node_that_lost_a_server_takes_nothing_from_one_that_has_it(
    database: Database,
) -> None:
    ours, theirs = Seen(), Seen()
    first, second = node(database, ours), node(database, theirs, "nd_2")
    for seen, skills in ((ours, first), (theirs, second)):
        seen.now_offers(git=(REVIEW,))
        await skills.offer()
    ours.now_offers()
    assert await first.offer() == SkillChanges()
    assert listed(database) == [("mcp__git__review", "mcp", "git")]
    theirs.now_offers()
    assert await second.offer() == SkillChanges(removed=("mcp__git__review",))
    assert listed(database) == []


@pytest.mark.req("T-77")
async def test_what_a_node_offered_goes_with_the_node(database: Database) -> None:
    gone, stays = Seen(), Seen()
    gone.now_offers(git=(REVIEW, SUMMARY))
    stays.now_offers(git=(REVIEW,))
    await node(database, gone, "nd_gone").offer()
    keeper = node(database, stays, "nd_stays")
    await keeper.offer()
    services = Services(database)
    services.register(ServiceRow("nd_gone", "node", "", "0.1.0", AT, "{}"))
    assert await keeper.forget() == SkillChanges()

    services.leave("nd_gone")
    assert await keeper.forget() == SkillChanges(removed=("mcp__git__sum_up",))
    assert listed(database) == [("mcp__git__review", "mcp", "git")]


@pytest.mark.req("T-77")
async def test_a_silent_nodes_prompts_are_taken_back_and_come_again_with_it(
    database: Database,
) -> None:
    seen = Seen()
    seen.now_offers(git=(REVIEW,))
    slow = node(database, seen, "nd_slow")
    await slow.offer()
    Services(database).register(ServiceRow("nd_slow", "node", "", "0.1.0", AT, "{}"))
    changes = SkillOffers(database).forget("nd_1", AT, silent_for_seconds=-1.0)
    assert changes.removed == ("mcp__git__review",)
    assert (await slow.offer()).added == ("mcp__git__review",)


@pytest.mark.req("T-77")
async def test_a_change_is_written_by_itself(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redshank_node.mcp_client.prompt_skills.LOOK_SECONDS", 0.02)
    seen, stop = Seen(), asyncio.Event()
    async with asyncio.timeout(DEADLINE_SECONDS), asyncio.TaskGroup() as group:
        group.create_task(node(database, seen).run(stop))
        for prompts in ((REVIEW,), (SUMMARY,), ()):
            seen.now_offers(git=prompts)
            wanted = [(qualified(prompt), "mcp", "git") for prompt in prompts]
            while await database.run(listed, database) != wanted:
                await asyncio.sleep(0.01)
        stop.set()


@pytest.mark.req("T-77")
async def test_a_database_that_is_away_ends_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("redshank_node.mcp_client.prompt_skills.LOOK_SECONDS", 0.02)
    seen, stop = Seen(), asyncio.Event()
    seen.now_offers(git=(REVIEW,))
    away = Database(f"postgresql://nobody@127.0.0.1:{free_port()}/nowhere")
    async with asyncio.timeout(DEADLINE_SECONDS), asyncio.TaskGroup() as group:
        group.create_task(node(away, seen).run(stop))
        # The second attempt shows that the first one's failure ended nothing.
        while caplog.text.count("not kept as skills now") < 2:
            await asyncio.sleep(0.01)
        stop.set()
    await away.settled()
    away.close()


def qualified(prompt: RemotePrompt) -> str:
    return f"mcp__git__{prompt.name.replace(' ', '_')}"


@pytest.mark.req("T-77")
@pytest.mark.fault("F8")
def test_a_name_that_is_too_long_or_anothers_too_is_no_skill() -> None:
    offered = tuple(RemotePrompt(name) for name in ("a b", "a_b", "x" * 60, "fits"))
    prompts = prompts_of(Inventory("git", prompts=offered), str)
    assert [prompt.name for prompt in prompts] == ["mcp__git__fits"]


@pytest.mark.req("T-77")
def test_what_a_server_says_is_bounded_and_redacted_before_it_is_kept() -> None:
    secret = "sk-" + "s" * 20
    flood = RemotePrompt(
        "flood",
        "d" * 1010 + secret + "d" * 9000,
        tuple(PromptArgument(f"a{number}", secret) for number in range(99)),
    )
    (prompt,) = prompts_of(
        Inventory("git", prompts=(flood,)), lambda text: text.replace(secret, "[redacted]")
    )
    assert prompt.description == "d" * 1010 + "[redacted]" + "d" * 4
    assert len(prompt.arguments) == 50
    assert {argument.description for argument in prompt.arguments} == {"[redacted]"}


@pytest.mark.req("T-77")
async def test_a_manual_skill_of_the_same_name_wins_and_a_warning_says_so(
    both: RunningConsole, caplog: pytest.LogCaptureFixture
) -> None:
    seen = Seen()
    skills = node(both.database, seen)
    seen.now_offers(git=(REVIEW,))
    await skills.offer()
    mine = {"name": "mcp__git__review", "body": "Read every line."}
    with caplog.at_level(logging.WARNING):
        assert (await both.client.post("/v1/skills", json=mine)).status_code == 201
        assert "mcp__git__review of the MCP server git is not used any more" in caplog.text
        caplog.clear()
        seen.now_offers(git=(msgspec.structs.replace(REVIEW, description="Looks twice"),))
        await skills.offer()
        assert "mcp__git__review of an MCP server is not used" in caplog.text

    view = (await both.client.get("/v1/skills/mcp__git__review")).json()
    assert (view["origin"], view["body"]) == ("manual", "Read every line.")
    page = (await both.client.get("/v1/skills")).json()
    assert [(item["origin"], item["overruled"]) for item in page["items"]] == [
        ("manual", False),
        ("mcp", True),
    ]

    assert (await both.client.delete("/v1/skills/mcp__git__review")).status_code == 200
    view = (await both.client.get("/v1/skills/mcp__git__review")).json()
    assert (view["origin"], view["server"], view["overruled"]) == ("mcp", "git", False)


@pytest.mark.req("T-77")
async def test_a_skill_of_an_mcp_server_is_read_only_for_everybody(both: RunningConsole) -> None:
    seen = Seen()
    seen.now_offers(git=(REVIEW,))
    await node(both.database, seen).offer()
    before = (await both.client.get("/v1/skills/mcp__git__review")).json()
    assert before["read_only"]
    for method, body in (("PUT", {"body": "mine"}), ("DELETE", None)):
        answer = await both.client.request(method, "/v1/skills/mcp__git__review", json=body)
        assert (answer.status_code, answer.json()["code"]) == (403, "skill_read_only")
    assert (await both.client.get("/v1/skills/mcp__git__review")).json() == before


async def test_manual_skills_are_made_changed_removed(both: RunningConsole) -> None:
    made = {
        "name": "tidy",
        "description": "Leaves nothing behind",
        "body": "Sweep.",
        "arguments": [{"name": "room", "required": True}],
    }
    first = await both.client.post("/v1/skills", json=made, headers={"Idempotency-Key": "k"})
    again = await both.client.post("/v1/skills", json=made, headers={"Idempotency-Key": "k"})
    assert first.status_code == 201
    assert first.text == again.text
    assert first.json()["arguments"] == [{"name": "room", "description": "", "required": True}]
    taken = await both.client.post("/v1/skills", json=made)
    assert (taken.status_code, taken.json()["code"]) == (409, "skill_exists")

    changed = await both.client.put("/v1/skills/tidy", json={"body": "Mop.", "enabled": False})
    assert changed.status_code == 200
    assert (changed.json()["body"], changed.json()["enabled"]) == ("Mop.", False)
    assert changed.json()["arguments"] == []
    assert (await both.client.delete("/v1/skills/tidy")).json()["body"] == "Mop."
    for method, body in (("GET", None), ("PUT", {"body": "x"}), ("DELETE", None)):
        missing = await both.client.request(method, "/v1/skills/tidy", json=body)
        assert (missing.status_code, missing.json()["code"]) == (404, "no_such_skill")


REFUSED: list[tuple[dict[str, object], str]] = [
    ({"name": "two words", "body": "x"}, "name"),
    ({"name": "x" * 65, "body": "x"}, "name"),
    ({"name": "ok", "body": ""}, "body"),
    ({"name": "ok", "body": "x" * 100_001}, "body"),
    ({"name": "ok", "body": "x", "origin": "mcp"}, "origin"),
    ({"name": "ok", "body": "x", "arguments": [{"name": ""}]}, "arguments[0].name"),
]


async def test_a_skill_that_cannot_be_is_refused_with_its_field(standing: RunningConsole) -> None:
    for body, field in REFUSED:
        answer = await standing.client.post("/v1/skills", json=body)
        assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert (await standing.client.get("/v1/skills")).json()["total"] == 0


def test_a_page_goes_on_where_the_last_one_ended(database: Database) -> None:
    skills = Skills(database)
    for row in (
        SkillRow("a", "mcp", "x", "", "", (), True, AT, AT),
        SkillRow("a", "manual", "", "", "", (), True, AT, AT),
        SkillRow("b", "mcp", "y", "", "", (), True, AT, AT),
    ):
        with database.begin() as connection:
            add_row(connection, row)
    first = skills.page(SkillFilters(), limit=2)
    assert [(item.row.name, item.row.origin) for item in first.items] == [
        ("a", "manual"),
        ("a", "mcp"),
    ]
    assert [item.overruled for item in first.items] == [False, True]
    rest = skills.page(SkillFilters(), limit=2, cursor=first.next_cursor)
    assert [item.row.name for item in rest.items] == ["b"]
    assert (rest.total, rest.next_cursor) == (3, None)
    only = skills.page(SkillFilters(origin="mcp", server="x"))
    assert [item.row.name for item in only.items] == ["a"]
