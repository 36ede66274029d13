"""Where a URL leads is what every reader of it says, or it is refused."""

import ipaddress
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from redshank_node.tools.support.web.addresses import (
    Refused,
    is_local_name,
    onward,
    reach_of,
    target_of,
)
from redshank_node.tools.support.web.network import system_addresses

ODD = "\\@#?/:[]%.\u3002\uff0e\uff11\u24b6\xdf\u200b\t\r\n\0 0x7f127aA-_~&=+"
INSIDE = st.sampled_from(
    ["127.0.0.1", "10.0.0.5", "169.254.169.254", "192.168.1.1", "172.16.0.1", "100.64.0.1"]
)


def led(url: str) -> str:
    """The host that a URL leads to, or empty where it is refused."""
    try:
        return target_of(url).host
    except Refused:
        return ""


@pytest.mark.fault("F63")
@given(st.text(st.sampled_from(ODD), max_size=40))
def test_every_reader_of_what_is_requested_sees_the_host_that_was_judged(text: str) -> None:
    try:
        target = target_of(f"http://{text}")
    except Refused:
        return
    assert urlsplit(target.url).hostname == target.host
    assert URL(target.url, encoded=True).host == target.host
    assert URL(target.url, encoded=True).port == target.port
    assert target.url.isascii()
    assert target_of(target.url) == target


def numeric_forms(address: ipaddress.IPv4Address) -> list[str]:
    """The ways in which some reader or other takes an address."""
    number, parts = int(address), address.packed
    return [
        str(number),
        hex(number),
        f"0{number:o}",
        ".".join(f"0{part:o}" for part in parts),
        ".".join(map(hex, parts)),
        f"{parts[0]}.{int.from_bytes(parts[1:], 'big')}",
        f"{parts[0]}.{parts[1]}.{int.from_bytes(parts[2:], 'big')}",
        f"{hex(parts[0])}.{parts[1]}.{parts[2]}.{parts[3]}",
        f"{address}.",
        ".".join(f"{part:03}" for part in parts),
    ]


@pytest.mark.fault("F63")
@given(INSIDE, st.integers(0, 9))
def test_an_address_inside_is_reached_in_no_form_of_its_numbers(text: str, form: int) -> None:
    host = led(f"http://{numeric_forms(ipaddress.IPv4Address(text))[form]}/")

    assert host == "" or reach_of(host) != "public"


@pytest.mark.fault("F63")
@given(INSIDE)
def test_an_address_inside_is_reached_through_no_address_of_ipv6(text: str) -> None:
    number = int(ipaddress.IPv4Address(text))
    wrapped = [
        ipaddress.IPv6Address(prefix | number)
        for prefix in (0, 0xFFFF << 32, 0xFFFF << 48, 0x64FF9B << 96, 0x64FF9B0001 << 80)
    ]
    wrapped.append(ipaddress.IPv6Address(0x2002 << 112 | number << 80))
    wrapped.append(ipaddress.IPv6Address(0x20010000 << 96 | (number ^ 0xFFFFFFFF)))

    assert {str(each): reach_of(str(each)) for each in wrapped if str(each) != "::1"} == {
        str(each): "never" for each in wrapped if str(each) != "::1"
    }


@pytest.mark.fault("F63")
@given(st.integers(0, 2**32 - 1))
def test_only_what_a_person_runs_for_themselves_may_be_approved(number: int) -> None:
    address = ipaddress.IPv4Address(number)

    match reach_of(str(address)):
        case "public":
            assert address.is_global
            assert not address.is_multicast
        case "private":
            assert address.is_private or address in ipaddress.ip_network("100.64.0.0/10")
            assert not address.is_link_local
        case "never":
            assert not address.is_global or address.is_multicast or address.packed[0] == 192


@pytest.mark.parametrize(
    ("location", "leads_to"),
    [
        ("/b", "http://a.example/b"),
        ("b?c=d", "http://a.example/x/b?c=d"),
        ("//b.example", "http://b.example/"),
        ("https://b.example:443/#part", "https://b.example/"),
        ("?q", "http://a.example/x/y?q"),
        (" /a b ", "http://a.example/a%20b"),
        ("/%2F%zz", "http://a.example/%2F%zz"),
        ("https://B\u00fccher.example/\u00fc", "https://xn--bcher-kva.example/%C3%BC"),
    ],
)
def test_a_redirect_leads_where_its_location_says(location: str, leads_to: str) -> None:
    assert onward(target_of("http://a.example/x/y"), location).url == leads_to


def test_names_of_this_machine_are_known_by_their_end() -> None:
    assert is_local_name("localhost")
    assert is_local_name("a.localhost")
    assert not is_local_name("localhost.example")
    assert not is_local_name("alocalhost")


def test_a_machine_resolves_its_own_name_to_loopback_alone() -> None:
    assert {reach_of(each) for each in system_addresses("localhost")} == {"private"}
