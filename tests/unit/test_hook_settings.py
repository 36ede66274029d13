"""What stands in a [[hooks]] table, what is refused there with the mend."""

from pathlib import Path

import pytest

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.hooks import Hook, HookAgent
from redshank_shared.settings.load import load

GATE = 'name = "gate"\nevent = "permission_request"\n'


def hooks(tmp_path: Path, text: str) -> tuple[Hook, ...]:
    file = tmp_path / "redshank.toml"
    file.write_text(text)
    return load(file, {"HOME": str(tmp_path)}).hooks


@pytest.mark.req("K-78", "K-80")
def test_hooks_are_read_in_the_order_in_which_they_are_declared(tmp_path: Path) -> None:
    found = hooks(
        tmp_path,
        f"""
        [[hooks]]
        {GATE}
        command = ["/usr/bin/gate", "--strict"]

        [[hooks]]
        name = "advice"
        event = "permission_denied"
        tools = ["bash", "mcp__*", "@network"]
        url = "https://gate.example/ask"
        timeout_seconds = 2.5
        retries = 0
        failure_policy = "open"
        allow_private = true
        """,
    )

    assert found == (
        Hook("gate", "permission_request", command=("/usr/bin/gate", "--strict")),
        Hook(
            "advice",
            "permission_denied",
            ("bash", "mcp__*", "@network"),
            url="https://gate.example/ask",
            timeout_seconds=2.5,
            retries=0,
            failure_policy="open",
            allow_private=True,
        ),
    )
    assert (found[0].tools, found[0].failure_policy) == (("*",), "closed")


@pytest.mark.req("K-79")
def test_an_agent_has_no_tools_unless_they_are_allowed_one_by_one(tmp_path: Path) -> None:
    found = hooks(
        tmp_path,
        f"""
        [[hooks]]
        {GATE}
        agent = {{ prompt = "be strict" }}

        [[hooks]]
        name = "looker"
        event = "permission_request"
        timeout_seconds = 45

        [hooks.agent]
        prompt = "look first"
        model = "demo"
        steps = 3
        tool_surface = {{ allow = ["read_file", "bash", "read_file"], deny = ["bash"] }}
        """,
    )

    assert [hook.agent for hook in found] == [
        HookAgent("be strict"),
        HookAgent("look first", "demo", ("read_file",), 3),
    ]
    assert [hook.timeout_seconds for hook in found] == [30.0, 45.0]


def test_without_a_table_there_is_no_hook(tmp_path: Path) -> None:
    assert hooks(tmp_path, "") == ()


def test_one_pattern_needs_no_list(tmp_path: Path) -> None:
    (hook,) = hooks(tmp_path, f'[[hooks]]\n{GATE}tools = "bash"\ncommand = ["gate"]')

    assert hook.tools == ("bash",)


@pytest.mark.req("K-79", "K-80")
@pytest.mark.parametrize(
    ("text", "field", "words"),
    [
        (f"[hooks]\n{GATE}", "hooks", "write [[hooks]] above each"),
        (f'[[hook]]\n{GATE}command = ["x"]', "hook", "did you mean hooks?"),
        ('[[hooks]]\nname = "gate"', "hooks[0].event", "hook gate needs event"),
        ('[[hooks]]\nevent = "permission_request"', "hooks[0].name", "hook number 1 needs name"),
        (f'[[hooks]]\n{GATE}comand = ["x"]', "hooks[0].comand", "did you mean command?"),
        (f"[[hooks]]\n{GATE}", "hooks[0].command", "needs one of"),
        (
            f'[[hooks]]\n{GATE}command = ["x"]\nurl = "http://a/"',
            "hooks[0].command",
            "needs one of",
        ),
        (f'[[hooks]]\n{GATE}command = "x"', "hooks[0].command", "a list of words"),
        (f'[[hooks]]\n{GATE}command = [""]', "hooks[0].command", "first word is the program"),
        (f'[[hooks]]\n{GATE}command = ["./gate"]', "hooks[0].command", "give the whole path"),
        (f'[[hooks]]\n{GATE}command = ["bin/gate"]', "hooks[0].command", "give the whole path"),
        ('[[hooks]]\nname = "gate"\nevent = "ask"', "hooks[0].event", '"permission_request" or'),
        ('[[hooks]]\nname = "a b"\nevent = "permission_denied"', "hooks[0].name", "letters"),
        (f'[[hooks]]\n{GATE}tools = []\ncommand = ["x"]', "hooks[0].tools", "is empty"),
        (f'[[hooks]]\n{GATE}tools = 3\ncommand = ["x"]', "hooks[0].tools", "a pattern such as"),
        (f'[[hooks]]\n{GATE}timeout_seconds = 0\ncommand = ["x"]', "hooks[0].timeout_seconds", "0"),
        (
            f'[[hooks]]\n{GATE}timeout_seconds = 61\ncommand = ["x"]',
            "hooks[0].timeout_seconds",
            "at most 60",
        ),
        (f'[[hooks]]\n{GATE}retries = -1\ncommand = ["x"]', "hooks[0].retries", "from 0 to 5"),
        (f'[[hooks]]\n{GATE}retries = 6\ncommand = ["x"]', "hooks[0].retries", "from 0 to 5"),
        (
            f'[[hooks]]\n{GATE}failure_policy = "ask"\ncommand = ["x"]',
            "hooks[0].failure_policy",
            '"open" or "closed"',
        ),
        (f'[[hooks]]\n{GATE}url = "gate.example"', "hooks[0].url", "begin with http://"),
        (f'[[hooks]]\n{GATE}url = "ftp://gate.example/"', "hooks[0].url", "begin with http://"),
        (f'[[hooks]]\n{GATE}url = "http://me:pw@gate.example/"', "hooks[0].url", "holds a user"),
        (f'[[hooks]]\n{GATE}url = "http://127.0.0.%31/"', "hooks[0].url", "an escape"),
        (f'[[hooks]]\n{GATE}url = "http://gate.example:0/"', "hooks[0].url", "port 0"),
        (f'[[hooks]]\n{GATE}url = "http://gate.example:65536/"', "hooks[0].url", "no address"),
        (
            f'[[hooks]]\n{GATE}command = ["x"]\n[[hooks]]\n{GATE}command = ["y"]',
            "hooks[1].name",
            "two hooks are called gate",
        ),
        (f"[[hooks]]\n{GATE}agent = {{}}", "hooks[0].agent.prompt", "needs prompt"),
        (f'[[hooks]]\n{GATE}agent = {{prompt = " "}}', "hooks[0].agent.prompt", "needs prompt"),
        (f'[[hooks]]\n{GATE}agent = "strict"', "hooks[0].agent", "takes a table"),
        (
            f'[[hooks]]\n{GATE}url = "http://x.example"\nagent = {{prompt = "be strict"}}',
            "hooks[0].command",
            "one of command, url and agent",
        ),
        (
            f'[[hooks]]\n{GATE}agent = {{prompt = "x", tool_surface = {{deny = ["bash"]}}}}',
            "hooks[0].agent.tool_surface.allow",
            "name the tools in allow",
        ),
        (
            f'[[hooks]]\n{GATE}agent = {{prompt = "x", tool_surface = {{}}}}',
            "hooks[0].agent.tool_surface.allow",
            "leave tool_surface out for none",
        ),
        (
            f'[[hooks]]\n{GATE}agent = {{prompt = "x", tool_surface = {{allow = ["read_*"]}}}}',
            "hooks[0].agent.tool_surface.allow",
            "each tool is named whole",
        ),
        (
            f'[[hooks]]\n{GATE}agent = {{prompt = "x", tool_surface = {{allow = "look"}}}}',
            "hooks[0].agent.tool_surface.allow",
            "a list of tools' names",
        ),
        (
            f'[[hooks]]\n{GATE}agent = {{prompt = "x", tool_surface = ["look"]}}',
            "hooks[0].agent.tool_surface",
            "the lists allow and deny",
        ),
        (
            f'[[hooks]]\n{GATE}agent = {{prompt = "x", tools = []}}',
            "hooks[0].agent.tools",
            "no key tools",
        ),
        (
            f'[[hooks]]\n{GATE}agent = {{prompt = "x", steps = 0}}',
            "hooks[0].agent.steps",
            "1 to 32",
        ),
        (
            f'[[hooks]]\n{GATE}agent = {{prompt = "x", model = "dmo"}}',
            "hooks[0].agent.model",
            "no model dmo; did you mean demo?",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_the_key_and_the_mend(
    tmp_path: Path, text: str, field: str, words: str
) -> None:
    with pytest.raises(Misconfigured) as caught:
        hooks(tmp_path, text)

    assert caught.value.field == field
    assert words in caught.value.detail
    assert "redshank.toml" in caught.value.detail
