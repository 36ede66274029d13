"""Servers that others wrote, from the registries, over both wires: `make test` installs them."""

import asyncio
import base64
import os
import re
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import msgspec
import pytest
import pytest_asyncio

from redshank_node.mcp_client.calling import (
    Called,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)
from redshank_node.mcp_client.prompt_skills import PromptSkills, ServersSeen
from redshank_node.mcp_client.supervisor import McpServers
from redshank_shared import clock
from redshank_shared.settings.environment import process_environment
from redshank_shared.settings.mcp_server import McpServer, check
from redshank_shared.stores.database import Database
from redshank_shared.stores.skills import SkillFilters, Skills
from tests.fakes.mcp_node import connected, status, until
from tests.fakes.ports import free_port

ROOT = Path(__file__).parents[2]
PLACE = ROOT / ".cache" / "mcp-servers"
OFFICIAL = PLACE / "node_modules" / "@modelcontextprotocol"
SECONDS = 60.0
# What each negotiates, how many tools, resources, templates, prompts it has.
OFFERS = {
    "everything": ("2025-11-25", 13, 7, 2, 4),
    "everything-http": ("2025-11-25", 13, 7, 2, 4),
    "filesystem": ("2025-11-25", 14, 0, 0, 0),
    "memory": ("2025-11-25", 9, 1, 0, 0),
    "git": ("2026-07-28", 12, 0, 0, 0),
    "time": ("2026-07-28", 2, 0, 0, 0),
    "fetch": ("2026-07-28", 1, 0, 0, 1),
}
BOTH_WIRES = ["everything", "everything-http"]
PAGE = (
    b"<html><body><article><h1>Redshank</h1><p>A wader with red legs.</p></article></body></html>"
)

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(180)]


def node() -> str:
    """Node as `make` finds it: the machine's, or the wheel's where that would not do."""
    beside = ROOT / ".venv" / "bin" / "node"
    return str(beside) if beside.exists() else "node"


def records(folder: Path, port: int) -> tuple[McpServer, ...]:
    """The servers as an operator would describe them."""

    def npm(name: str, *args: str, **env: str) -> McpServer:
        script = str(OFFICIAL / f"server-{name}" / "dist" / "index.js")
        return McpServer(name=name, command=node(), args=(script, *args), env=env)

    def pypi(name: str, *args: str) -> McpServer:
        return McpServer(name=name, command=str(PLACE / f"venv/bin/mcp-server-{name}"), args=args)

    servers = (
        npm("everything", "stdio"),
        McpServer(name="everything-http", url=f"http://127.0.0.1:{port}/mcp"),
        npm("filesystem", str(folder / "files")),
        npm("memory", MEMORY_FILE_PATH=str(folder / "memory.jsonl")),
        pypi("git", "--repository", str(folder / "repository")),
        pypi("time", "--local-timezone", "Europe/Berlin"),
        pypi("fetch", "--ignore-robots-txt", "--allow-private-ips"),
    )
    servers = tuple(msgspec.structs.replace(each, startup_timeout_sec=SECONDS) for each in servers)
    check(servers)
    return servers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the servers work on: files, a repository with one commit."""
    if not (PLACE / ".installed").exists():
        assert not process_environment().get("CI"), "`make test` installs them"
        pytest.skip(
            "the servers are not installed: make test, or make .cache/mcp-servers/.installed"
        )
    made = tmp_path_factory.mktemp("servers")
    (made / "files").mkdir()
    (made / "files" / "notes.txt").write_text("red legs\n")
    repository = made / "repository"
    repository.mkdir()
    (repository / "bird.txt").write_text("redshank\n")
    person = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org")
    for arguments in (("init", "-q"), ("add", "."), (*person, "commit", "-qm", "The first bird")):
        subprocess.run(("git", *arguments), cwd=repository, check=True)
    return made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def servers(folder: Path) -> AsyncIterator[McpServers]:
    """All of them, connected at the same time."""
    port = free_port()
    async with over_http(port), connected(folder, *records(folder, port)) as made:
        yield made


@asynccontextmanager
async def over_http(port: int) -> AsyncIterator[None]:
    """server-everything behind a port."""
    script = str(OFFICIAL / "server-everything" / "dist" / "index.js")
    started = await asyncio.create_subprocess_exec(
        *(node(), script, "streamableHttp"),
        env={**process_environment(), "PORT": str(port)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert started.stderr is not None
    try:
        async with asyncio.timeout(SECONDS):
            while b"listening on port" not in await started.stderr.readline():
                assert started.returncode is None
        yield
    finally:
        # The wheel's `node` is a script that has the real one as its child.
        os.killpg(started.pid, signal.SIGKILL)
        await started.communicate()


@contextmanager
def page() -> Iterator[str]:
    """The address of a page on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PAGE)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


async def text_of(servers: McpServers, server: str, tool: str, **arguments: object) -> str:
    called = await servers.call(server, tool, arguments, SECONDS)
    assert not called.is_error, called
    return words(called)


def words(called: Called) -> str:
    return "\n".join(each.text for each in called.content if isinstance(each, TextContent))


@pytest.mark.req("B-11", "T-70", "T-75", "T-76")
@pytest.mark.parametrize("name", OFFERS)
async def test_all_that_a_server_offers_is_found(servers: McpServers, name: str) -> None:
    found = status(servers, name)
    assert found.state == "connected", found.detail
    counts = (found.tools, found.resources, found.templates, found.prompts)
    assert (found.protocol, *counts) == OFFERS[name]
    assert servers.inventories()[name].dropped == ()


@pytest.mark.parametrize("name", BOTH_WIRES)
async def test_tools_answer_with_text_structure_images_links_resources(
    servers: McpServers, name: str
) -> None:
    assert "seven birds" in await text_of(servers, name, "echo", message="seven birds")
    assert "12" in await text_of(servers, name, "get-sum", a=5, b=7)

    weather = await servers.call(name, "get-structured-content", {"location": "Chicago"}, SECONDS)
    assert set(weather.structured) == {"temperature", "conditions", "humidity"}

    image = await servers.call(name, "get-tiny-image", {}, SECONDS)
    (png,) = [each for each in image.content if isinstance(each, ImageContent)]
    assert png.media_type == "image/png"
    assert base64.b64decode(png.data).startswith(b"\x89PNG")

    links = await servers.call(name, "get-resource-links", {"count": 4}, SECONDS)
    assert len([each for each in links.content if isinstance(each, ResourceLink)]) == 4

    embedded = await servers.call(
        name, "get-resource-reference", {"resourceType": "Text", "resourceId": 3}, SECONDS
    )
    (resource,) = [each for each in embedded.content if isinstance(each, EmbeddedResource)]
    assert resource.uri == "demo://resource/dynamic/text/3"
    assert resource.text


@pytest.mark.parametrize("name", BOTH_WIRES)
async def test_a_wrong_argument_is_the_servers_error_to_read(
    servers: McpServers, name: str
) -> None:
    called = await servers.call(name, "get-sum", {"a": "five", "b": 7}, SECONDS)
    assert called.is_error
    assert "expected number" in words(called)


@pytest.mark.req("B-11")
@pytest.mark.parametrize("name", BOTH_WIRES)
async def test_progress_is_heard_while_a_call_runs(servers: McpServers, name: str) -> None:
    heard: list[str] = []
    operation = {"duration": 0.4, "steps": 4}
    called = await servers.call(
        name, "trigger-long-running-operation", operation, SECONDS, heard.append
    )
    assert "Steps: 4" in words(called)
    assert len(heard) == 4


@pytest.mark.req("T-75")
@pytest.mark.parametrize("name", BOTH_WIRES)
async def test_resources_are_read_those_of_templates_too(servers: McpServers, name: str) -> None:
    listed = servers.inventories()[name].resources[0]
    (document,) = (await servers.read_resource(name, listed.uri, SECONDS)).content
    assert isinstance(document, EmbeddedResource)
    assert document.uri == listed.uri
    assert document.text

    uri = "demo://resource/dynamic/blob/2"
    (blob,) = (await servers.read_resource(name, uri, SECONDS)).content
    assert isinstance(blob, EmbeddedResource)
    assert blob.text is None
    assert b"2" in base64.b64decode(blob.blob)


@pytest.mark.req("T-76")
@pytest.mark.parametrize("name", BOTH_WIRES)
async def test_prompts_are_filled_in_with_their_arguments(servers: McpServers, name: str) -> None:
    simple = await servers.get_prompt(name, "simple-prompt", {}, SECONDS)
    assert simple.roles == ("user",)
    given = {"city": "Husum", "state": "Nordfriesland"}
    filled = await servers.get_prompt(name, "args-prompt", given, SECONDS)
    assert "Husum, Nordfriesland" in words(filled)


@pytest.mark.req("T-77")
async def test_prompts_are_skills_of_their_server(
    servers: McpServers, sqlite_template: Path, tmp_path: Path
) -> None:
    shutil.copy(sqlite_template, tmp_path / "redshank.db")
    database = Database(f"sqlite:///{tmp_path}/redshank.db", synchronous="NORMAL")
    seen = ServersSeen(
        revision=lambda: servers.revision,
        inventories=servers.inventories,
        redact=str,
        at=lambda: "2026-11-30T08:15:00.250Z",
        monotonic=clock.monotonic,
    )
    await PromptSkills(database, "nd_1", seen).offer()
    page = Skills(database).page(SkillFilters(origin="mcp", server="everything"))
    assert {
        listed.row.name: {each.name: each.required for each in listed.row.arguments}
        for listed in page.items
    } == {
        "mcp__everything__args-prompt": {"city": True, "state": False},
        "mcp__everything__completable-prompt": {"department": True, "name": True},
        "mcp__everything__resource-prompt": {"resourceType": True, "resourceId": True},
        "mcp__everything__simple-prompt": {},
    }
    database.close()


@pytest.mark.req("T-74")
@pytest.mark.fault("F10")
@pytest.mark.parametrize("name", BOTH_WIRES)
async def test_a_list_that_changes_is_known_without_asking(servers: McpServers, name: str) -> None:
    new = f"bird-{name}.gz"
    called = await text_of(
        servers,
        name,
        "gzip-file-as-resource",
        name=new,
        data="data:text/plain,redshank",
        outputType="resourceLink",
    )
    assert called == ""

    def names() -> set[str]:
        return {resource.name for resource in servers.inventories()[name].resources}

    await until(lambda: new in names())
    assert status(servers, name).resources == 8


async def test_the_filesystem_server_keeps_to_its_folder(servers: McpServers, folder: Path) -> None:
    files = folder / "files"
    notes = await text_of(servers, "filesystem", "read_text_file", path=f"{files}/notes.txt")
    assert notes == "red legs\n"
    new = f"{files}/new.txt"
    await text_of(servers, "filesystem", "write_file", path=new, content="grey back")
    assert Path(new).read_text() == "grey back"
    outside = await servers.call("filesystem", "read_text_file", {"path": "/etc/hostname"}, SECONDS)
    assert outside.is_error
    assert "outside allowed directories" in words(outside)


async def test_the_memory_server_remembers(servers: McpServers) -> None:
    bird = {"name": "redshank", "entityType": "bird", "observations": ["has red legs"]}
    await text_of(servers, "memory", "create_entities", entities=[bird])
    found = await servers.call("memory", "search_nodes", {"query": "red legs"}, SECONDS)
    assert [each["name"] for each in found.structured["entities"]] == ["redshank"]


async def test_the_git_server_reads_a_repository(servers: McpServers, folder: Path) -> None:
    repository = str(folder / "repository")
    log = await text_of(servers, "git", "git_log", repo_path=repository)
    assert "The first bird" in log
    status_text = await text_of(servers, "git", "git_status", repo_path=repository)
    assert "working tree clean" in status_text


async def test_the_time_server_knows_other_zones(servers: McpServers) -> None:
    told = await text_of(
        servers,
        "time",
        "convert_time",
        source_timezone="Europe/Berlin",
        time="12:00",
        target_timezone="Asia/Tokyo",
    )
    assert re.search(r'"time_difference": "\+[78]\.0h"', told)


async def test_the_fetch_server_gives_a_page_as_tool_or_prompt(servers: McpServers) -> None:
    with page() as address:
        assert "A wader with red legs." in await text_of(servers, "fetch", "fetch", url=address)
        prompt = await servers.get_prompt("fetch", "fetch", {"url": address}, SECONDS)
    assert "A wader with red legs." in words(prompt)


@pytest.mark.req("T-73", "T-74")
@pytest.mark.parametrize("name", ["memory", "everything-http"])
async def test_a_reconnect_ends_in_full_rediscovery(servers: McpServers, name: str) -> None:
    before = status(servers, name)
    changed = await servers.reconnect(name)
    assert changed.failed == ""
    after = status(servers, name)
    assert (after.state, after.tools) == ("connected", before.tools)
    assert after.reconnects == before.reconnects + 1
