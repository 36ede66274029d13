"""MCP servers as an operator describes them: read in every form, contradictions refused, secrets
never shown.
"""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.mcp_names import all_qualified, check_servers, qualified
from redshank_shared.settings.load import load
from redshank_shared.settings.mcp_server import McpServer, check, public_fields
from redshank_shared.settings.mcp_sources import from_json, from_mcp_toml, from_toml, together
from redshank_shared.settings.mcp_starting import SlotState, child_environment, startable, without

STDIO = {"command": "internal-mcp"}
HTTP = {"url": "https://mcp.acme.example/mcp"}
SLOT = "mcp.custom.acme.TOKEN"


def server(**fields: Any) -> McpServer:
    (read,) = from_toml({"acme": fields}, "redshank.toml")
    return read


@pytest.mark.req("K-57", "K-58")
def test_the_defaults_are_those_of_the_documents() -> None:
    read = server(**STDIO)
    assert (read.transport, read.enabled, read.required) == ("stdio", True, False)
    assert (read.startup_timeout_sec, read.tool_timeout_sec) == (10, 120)
    assert read.inherits_environment
    assert (read.enabled_tools, read.disabled_tools) == (None, ())
    assert server(**HTTP).transport == "http"


@pytest.mark.req("K-58")
def test_every_field_of_the_document_is_read() -> None:
    read = server(
        **HTTP,
        bearer_token_secret_ref="mcp.custom.acme.BEARER_TOKEN",
        http_header_secret_refs={"x-api-key": "mcp.custom.acme.X_API_KEY"},
        enabled_tools=["search", "fetch"],
        startup_timeout_sec=15,
        tool_timeout_sec=120,
        required=True,
        disabled_tools=["drop"],
        plan_tools=["search"],
    )
    check((read,))
    assert read.enabled_tools == ("search", "fetch")
    assert read.startup_timeout_sec == 15
    command = server(
        command="x", args=["a"], env={"A": "1"}, env_secret_refs={"T": SLOT}, cwd="/srv"
    )
    check((command,))
    assert (command.args, command.cwd) == (("a",), "/srv")
    oauth = server(
        **HTTP,
        oauth_slot_ref="mcp.oauth.acme",
        oauth_resource="https://mcp.acme.example/mcp",
        oauth_scopes=["read", "search"],
    )
    check((oauth,))
    assert oauth.oauth_scopes == ("read", "search")


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("a command with a header", {**STDIO, "headers": {"x": "y"}}, "headers"),
    ("a command with a bearer token", {**STDIO, "bearer_token_secret_ref": SLOT}, "bearer"),
    ("a command with OAuth", {**STDIO, "oauth_slot_ref": "mcp.oauth.a"}, "oauth_slot_ref"),
    ("a command with OAuth scopes", {**STDIO, "oauth_scopes": ["a"]}, "oauth_scopes"),
    ("a command with header slots", {**STDIO, "http_header_secret_refs": {"x": SLOT}}, "http_"),
    ("an address with arguments", {**HTTP, "args": ["x"]}, "args"),
    ("an address with an environment", {**HTTP, "env": {"A": "1"}}, "env"),
    ("an address with secret variables", {**HTTP, "env_secret_refs": {"A": SLOT}}, "env_secret"),
    ("an address that inherits", {**HTTP, "inherit_env": True}, "inherit_env"),
    ("an address with a folder", {**HTTP, "cwd": "/"}, "cwd"),
    (
        "secret slots with the whole environment",
        {**STDIO, "env_secret_refs": {"A": SLOT}, "inherit_env": True},
        "inherit_env",
    ),
    (
        "Authorization beside a bearer token",
        {**HTTP, "headers": {"AUTHORIZATION": "x"}, "bearer_token_secret_ref": SLOT},
        "headers.AUTHORIZATION",
    ),
    (
        "Authorization from a slot beside OAuth",
        {
            **HTTP,
            "http_header_secret_refs": {"authorization": SLOT},
            "oauth_slot_ref": "mcp.oauth.acme",
        },
        "http_header_secret_refs.authorization",
    ),
    (
        "one header from two sources",
        {**HTTP, "headers": {"X-Key": "a"}, "http_header_secret_refs": {"x-key": SLOT}},
        "http_header_secret_refs.x-key",
    ),
    (
        "one header from a variable too",
        {**HTTP, "headers": {"X-Key": "a"}, "env_http_headers": {"x-KEY": "VARIABLE"}},
        "env_http_headers.x-KEY",
    ),
    ("OAuth outside its slots", {**HTTP, "oauth_slot_ref": "mcp.custom.acme"}, "oauth_slot_ref"),
    ("a slot of something else", {**HTTP, "bearer_token_secret_ref": "model.main"}, "bearer_token"),
    (
        "an account's slot as a bearer token",
        {**HTTP, "bearer_token_secret_ref": "mcp.oauth.acme"},
        "bearer_token_secret_ref",
    ),
    (
        "an account's slot as a variable",
        {**STDIO, "env_secret_refs": {"T": "mcp.oauth.acme"}},
        "env_secret_refs.T",
    ),
    (
        "an account's slot as a header beside the account",
        {
            **HTTP,
            "oauth_slot_ref": "mcp.oauth.acme",
            "http_header_secret_refs": {"X-T": "mcp.oauth.acme"},
        },
        "http_header_secret_refs.X-T",
    ),
    ("command with address", {**STDIO, **HTTP}, "url"),
    ("neither command nor address", {"enabled": True}, "command"),
    (
        "a bearer token with OAuth",
        {**HTTP, "bearer_token_env_var": "T", "oauth_slot_ref": "mcp.oauth.acme"},
        "oauth_slot_ref",
    ),
    (
        "two bearer tokens",
        {**HTTP, "bearer_token_env_var": "T", "bearer_token_secret_ref": SLOT},
        "bearer_token_env_var",
    ),
    (
        "one variable from two sources",
        {**STDIO, "env": {"T": "x"}, "env_secret_refs": {"T": SLOT}},
        "env.T",
    ),
    ("a header of the transport", {**HTTP, "headers": {"Mcp-Session-Id": "1"}}, "headers.Mcp"),
    ("another scheme", {"url": "ftp://mcp.acme.example"}, "url"),
    ("OAuth scopes without an account", {**HTTP, "oauth_scopes": ["read"]}, "oauth_slot_ref"),
]


@pytest.mark.req("K-59", "O-17")
@pytest.mark.parametrize(
    ("fields", "field"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_a_contradiction_is_refused_by_its_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        check((server(**fields),))
    assert (refused.value.field or "").startswith(f"mcp.servers.acme.{field}")
    assert "acme" in refused.value.detail


@pytest.mark.req("K-58")
def test_an_unknown_field_is_refused_with_the_nearest() -> None:
    with pytest.raises(Misconfigured, match="did you mean env_secret_refs"):
        server(command="x", env_secret_ref={"A": SLOT})


@pytest.mark.req("K-59")
@pytest.mark.fault("F8")
@pytest.mark.parametrize("names", [("a.b", "a_b"), ("a b", "a/b")])
def test_servers_whose_names_become_one_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(Misconfigured, match="would both be called"):
        check(tuple(msgspec.structs.replace(server(**STDIO), name=name) for name in names))


@pytest.mark.req("T-71")
@pytest.mark.parametrize("name", ["a__b", "", "__", "a. .b"])
def test_a_server_name_that_would_blur_its_tools_names_is_refused(name: str) -> None:
    with pytest.raises(Misconfigured, match="cannot name an MCP server"):
        check_servers((name,))


@pytest.mark.req("K-66", "T-71", "O-19")
@pytest.mark.fault("F8")
def test_tools_are_qualified_sanitised_and_never_cut() -> None:
    assert qualified("linear", "search issues") == "mcp__linear__search_issues"
    assert len(qualified("s", "t" * 56)) == 64
    with pytest.raises(Misconfigured, match="64 are allowed"):
        qualified("s", "t" * 57)


@pytest.mark.req("K-66")
@pytest.mark.fault("F8")
def test_two_tools_with_one_name_are_refused_and_neither_wins() -> None:
    offered = [("a", "x.y"), ("a", "x y")]
    with pytest.raises(Misconfigured, match=r"x\.y.*x y"):
        all_qualified(offered)
    assert all_qualified([("a", "x"), ("b", "x")]) == {
        "mcp__a__x": ("a", "x"),
        "mcp__b__x": ("b", "x"),
    }


@pytest.mark.req("K-56", "T-70")
def test_the_usual_json_is_read() -> None:
    text = """{"mcpServers": {
        "github": {"command": "npx", "args": ["-y", "server-github"], "env": {"A": "1"}},
        "remote": {"type": "http", "url": "https://mcp.example.com/mcp", "disabled": true}}}"""
    github, remote = from_json(text, "mcp.json")
    assert (github.name, github.command, github.args) == ("github", "npx", ("-y", "server-github"))
    assert (remote.transport, remote.enabled) == ("http", False)


@pytest.mark.req("C-51")
def test_mcp_toml_has_one_deadline_for_both() -> None:
    tables = {
        "a": {"url": "http://127.0.0.1:9/mcp", "timeout": 2500, "headers": {"x": "y"}},
        "b": HTTP,
    }
    first, second = from_mcp_toml(tables, "mcp.toml")
    assert (first.startup_timeout_sec, first.tool_timeout_sec) == (2.5, 2.5)
    assert (second.startup_timeout_sec, second.tool_timeout_sec) == (60, 60)
    with pytest.raises(Misconfigured, match="milliseconds above 0"):
        from_mcp_toml({"a": {**HTTP, "timeout": 0}}, "mcp.toml")


@pytest.mark.req("K-56", "K-57")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"mcpServers": {"a": {"type": "sse", "url": "https://x.example"}}}', "SSE"),
        ('{"mcpServers": {"a": {"type": "http", "command": "x"}}}', "without url"),
        ('{"servers": {}}', "mcpServers"),
        ("{", "not JSON"),
        ('{"mcpServers": {"a": 7}}', "table of its fields"),
    ],
)
def test_json_that_says_something_else_is_refused_with_the_mend(text: str, said: str) -> None:
    with pytest.raises(Misconfigured, match=said):
        from_json(text, "mcp.json")


@pytest.mark.req("K-56", "T-70")
def test_the_file_names_servers_in_three_forms(tmp_path: Path) -> None:
    usual = tmp_path / "mcp.json"
    usual.write_text('{"mcpServers": {"c": {"command": "npx"}}}')
    file = tmp_path / "redshank.toml"
    file.write_text(
        f'[mcp]\nconfig = "{usual}"\n[mcp.servers.a]\ncommand = "x"\n'
        '[mcp_servers.b]\nurl = "https://b.example/mcp"\n'
    )
    settings = load(file, {})
    assert [server.name for server in settings.mcp_servers] == ["a", "b", "c"]
    file.write_text('[mcp]\nconfig = "/nowhere/mcp.json"\n')
    with pytest.raises(Misconfigured, match="/nowhere/mcp.json"):
        load(file, {})
    file.write_text('[mcp.servers.a]\ncommand = "x"\nurl = "https://a.example"\n')
    with pytest.raises(Misconfigured) as refused:
        load(file, {})
    assert refused.value.field == "mcp.servers.a.url"


@pytest.mark.req("K-56")
def test_one_name_from_two_sources_is_refused() -> None:
    one = (server(**STDIO),)
    assert together([("redshank.toml", one), ("mcp.json", ())]) == one
    with pytest.raises(Misconfigured, match=r"redshank\.toml.*mcp\.json"):
        together([("redshank.toml", one), ("mcp.json", one)])


@pytest.mark.req("K-60")
def test_with_secret_slots_a_command_gets_its_own_variables_only() -> None:
    secret = server(command="x", env={"A": "1"}, env_secret_refs={"TOKEN": SLOT})
    plain = server(command="x", env={"A": "1"})
    closed = server(command="x", inherit_env=False)
    around = {"PATH": "/bin", "A": "0"}
    assert child_environment(secret, around, {SLOT: "s3"}.__getitem__) == {"A": "1", "TOKEN": "s3"}
    assert child_environment(plain, around, str) == {"PATH": "/bin", "A": "1"}
    assert child_environment(closed, around, str) == {}


@pytest.mark.req("K-61")
def test_a_server_whose_slot_was_revoked_is_left_out() -> None:
    states: dict[str, SlotState] = {"mcp.custom.a.T": "revoked", "mcp.custom.b.T": "set"}
    first, second = from_toml(
        {name: {**HTTP, "bearer_token_secret_ref": f"mcp.custom.{name}.T"} for name in "ab"}, "x"
    )
    started = startable((first, second), states.__getitem__)
    assert (started.servers, started.left_out) == ((second,), ("a",))


@pytest.mark.req("K-59")
@pytest.mark.parametrize("state", ["missing", "empty"])
def test_a_slot_that_holds_nothing_is_refused_with_the_command_that_fills_it(
    state: SlotState,
) -> None:
    wants = server(**HTTP, bearer_token_secret_ref=SLOT)
    with pytest.raises(Misconfigured, match=f"redshank secrets set {SLOT}") as refused:
        startable((wants,), lambda _: state)
    assert refused.value.field == "mcp.servers.acme.bearer_token_secret_ref"
    off = msgspec.structs.replace(wants, enabled=False)
    assert startable((off,), lambda _: state).servers == ()


@pytest.mark.req("O-18")
def test_a_server_that_fails_is_left_out_unless_it_is_required() -> None:
    there = msgspec.structs.replace(server(**STDIO), name="there", required=True)
    spare = msgspec.structs.replace(server(**STDIO), name="spare")
    failed = {"spare": "no such file: internal-mcp"}
    assert without((there, spare), failed) == (there,)
    failed["there"] = "it did not answer within 10 s"
    with pytest.raises(Misconfigured, match="did not answer") as refused:
        without((there, spare), failed)
    assert refused.value.field == "mcp.servers.there"


@pytest.mark.req("K-62")
@pytest.mark.fault("F12")
def test_no_form_in_which_a_server_is_shown_holds_a_secret() -> None:
    canary = "c4n4ry"
    shown = [
        server(
            command="npx",
            args=[
                f"--token={canary}",
                "--api-key",
                canary,
                "--apikey",
                canary,
                f"--client-secret={canary}",
                "--authorization",
                canary,
                f"https://u:{canary}@h.example/p?k={canary}#{canary}",
            ],
            env={"A": canary},
        ),
        server(
            url=f"https://u:{canary}@h.example/mcp?key={canary}#{canary}",
            headers={"x-api-key": canary},
        ),
        server(url=f"https://[{canary}/mcp", headers={}),
    ]
    for each in shown:
        assert canary not in repr(each)
        assert canary not in str(public_fields(each))
    assert public_fields(shown[1])["url"] == "https://***@h.example/mcp?***#***"
    assert public_fields(shown[2])["url"] == "***"


@pytest.mark.req("K-62")
def test_an_argument_behind_a_sensitive_option_stays_if_it_is_an_option() -> None:
    args = ["--verbose", "--token", "--port", "80", "--auth", "x", "run"]
    read = server(command="x", args=args)
    assert public_fields(read)["args"] == [
        *("--verbose", "--token", "--port", "80", "--auth", "***", "run")
    ]
