"""Judges whether an address lies outside: what an agent or a setting names may lead inside."""

import ipaddress

_IPv4 = ipaddress.IPv4Address
_IPv6 = ipaddress.IPv6Address

# Public by the registry's word, special in use: protocol assignments with a cloud's metadata among
# them, the relays of 6to4, the host that answers a cloud's machines with their own configuration.
_SPECIAL_4 = tuple(
    map(ipaddress.IPv4Network, ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32"))
)
# IPv6 addresses that carry one of IPv4: where they lead is decided elsewhere, so none is let
# through: NAT64 (both prefixes), 6to4, Teredo.
_CARRIERS_6 = tuple(
    map(ipaddress.IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32"))
)
_GLOBAL_6 = ipaddress.IPv6Network("2000::/3")
# For documents alone; the registry has it from later than some Pythons.
_DOCUMENTS_6 = ipaddress.IPv6Network("3fff::/20")


def is_public(address: str) -> bool:
    """Whether a numeric address, as a socket is connected to it, lies outside (F63).

    False for whatever is no numeric address: loopback, private, link-local, shared, multicast,
    reserved ranges, metadata services, IPv4 wrapped in IPv6.
    """
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, _IPv6):
        return _is_public_6(parsed)
    return _is_public_4(parsed)


def _is_public_4(address: _IPv4) -> bool:
    if address.is_multicast or address.is_reserved:
        return False
    return address.is_global and not any(address in network for network in _SPECIAL_4)


def _is_public_6(address: _IPv6) -> bool:
    if address not in _GLOBAL_6 or address in _DOCUMENTS_6:
        return False
    if any(address in network for network in _CARRIERS_6):
        return False
    return address.is_global and not address.is_multicast
