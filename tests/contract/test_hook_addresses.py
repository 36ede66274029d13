"""Where a hook over HTTP may lead: the cases of tests/contract/cases/ssrf.toml (F63).

Nothing here reaches the network: what would be let through is judged by its address alone.
"""

import socket
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from redshank_node.engine.hook_asking import HookFailed
from redshank_node.engine.hook_calls import ask_url
from redshank_node.tools.support.addresses import is_public
from redshank_shared.settings.hook_tables import wrong_with_url
from redshank_shared.settings.hooks import Hook

CASES: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "cases" / "ssrf.toml").read_text()
)["case"]
HERE = {"localhost": [["127.0.0.1"]], "localhost.": [["::1", "127.0.0.1"]]}
REFUSED = [case for case in CASES if case["expect"] == "refuse" and "hops" not in case]


class Answers(AbstractResolver):
    """A name server that knows these names; numbers in any form are read as the system reads
    them.
    """

    def __init__(self, answers: dict[str, list[list[str]]]) -> None:
        self._answers = {name: list(each) for name, each in answers.items()}
        self.lookups = 0

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.lookups += 1
        known = self._answers.get(host)
        if known is None:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=4)
            return [_result(host, str(info[4][0]), port) for info in found]
        addresses = known[0] if len(known) == 1 else known.pop(0)
        if not addresses:
            raise OSError(f"{host} is not known")
        return [_result(host, address, port) for address in addresses]

    async def close(self) -> None:
        return None


def _result(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return ResolveResult(
        hostname=host, host=address, port=port, family=family, proto=0, flags=socket.AI_NUMERICHOST
    )


@pytest.mark.req("K-80")
@pytest.mark.fault("F63")
@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["id"])
async def test_what_leads_inside_is_refused_before_a_connection(case: dict[str, Any]) -> None:
    if wrong_with_url(case["url"]):
        return
    hook = Hook("gate", "permission_request", url=case["url"])

    with pytest.raises(HookFailed) as caught:
        await ask_url(hook, b"{}", "key", 2.0, Answers({**HERE, **case.get("answers", {})}))

    assert caught.value.detail.startswith("it is not reached: ")


@pytest.mark.fault("F63")
async def test_a_name_is_looked_up_once_and_the_address_that_was_judged_is_the_connected_one() -> (
    None
):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        url = f"http://flip.example:{server.getsockname()[1]}/"
        names = Answers({"flip.example": [["127.0.0.1"], ["93.184.216.34"]]})

        with pytest.raises(HookFailed, match=r"127\.0\.0\.1 lies inside"):
            await ask_url(Hook("gate", "permission_request", url=url), b"{}", "k", 2.0, names)

        assert names.lookups == 1
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.fault("F63")
@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("172.32.0.1", True),
        ("100.63.255.255", True),
        ("2606:4700:4700::1111", True),
        ("127.0.0.1", False),
        ("0.0.0.0", False),
        ("10.1.2.3", False),
        ("172.31.255.255", False),
        ("192.168.1.9", False),
        ("100.64.0.1", False),
        ("169.254.169.254", False),
        ("192.0.0.192", False),
        ("198.18.0.1", False),
        ("192.88.99.1", False),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("::1", False),
        ("::127.0.0.1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:93.184.216.34", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("64:ff9b:1::1", False),
        ("2002:7f00:1::", False),
        ("2001::1", False),
        ("2001:db8::1", False),
        ("fd12:3456::1", False),
        ("fe80::1%eth0", False),
        ("febf::1", False),
        ("ff02::1", False),
        ("localhost", False),
        ("", False),
    ],
)
def test_an_address_is_public_only_if_it_lies_outside(address: str, public: bool) -> None:
    assert is_public(address) is public


@pytest.mark.fault("F63")
@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case["expect"] == "allow" and "hops" not in case],
    ids=lambda case: case["id"],
)
def test_what_lies_outside_may_be_asked(case: dict[str, Any]) -> None:
    host = urlsplit(case["url"]).hostname or ""
    addresses = case.get("answers", {}).get(host, [[host]])[0]

    assert wrong_with_url(case["url"]) == ""
    assert all(is_public(address) for address in addresses)
