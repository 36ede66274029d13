"""Which addresses a token, a code or a person may be sent to; when two name the same resource."""

from urllib.parse import SplitResult, urlsplit

from redshank_shared.domain.masking import shown_url
from redshank_shared.domain.oauth_failures import LoginRefused

LONGEST_ADDRESS = 2048
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_DEFAULT_PORTS = {"https": 443, "http": 80}


def is_loopback(address: str) -> bool:
    """Whether the address is on this machine."""
    parts = _parts(address)
    return parts is not None and (parts.hostname or "").lower() in _LOOPBACK


def checked_address(address: str, what: str, *, loopback: bool) -> str:
    """The address, if it is https; with `loopback` http to this machine too, which is for servers
    that are there themselves (K-71). LoginRefused names `what` else.
    """
    parts = _parts(address)
    if parts is None or len(address) > LONGEST_ADDRESS:
        raise _refused(what, address, "which is no address")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise _refused(what, address, "which holds a user or a fragment")
    if parts.scheme == "https" or (
        loopback and parts.scheme == "http" and (parts.hostname or "") in _LOOPBACK
    ):
        return address
    raise _refused(what, address, "which is not https")


def canonical(address: str) -> str:
    """The address as two spellings of one resource have it in common: scheme and host in lower
    case, no default port, no slash at the end, no fragment (RFC 8707, RFC 3986).
    """
    parts = _parts(address)
    if parts is None:
        return address
    path = parts.path.rstrip("/")
    query = f"?{parts.query}" if parts.query else ""
    return f"{origin(address)}{path}{query}"


def origin(address: str) -> str:
    """Scheme, host and port, these only where it is not the default one."""
    parts = _parts(address)
    if parts is None:
        return address
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    shown = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, _DEFAULT_PORTS.get(scheme)) else f":{parts.port}"
    return f"{scheme}://{shown}{port}"


def lies_within(address: str, resource: str) -> bool:
    """Whether the address is the resource or below it, on the same origin, by whole steps."""
    inner, outer = canonical(address), canonical(resource)
    return inner == outer or ("?" not in outer and inner.startswith(f"{outer}/"))


def _parts(address: str) -> SplitResult | None:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return None
    if not parts.scheme or not parts.hostname or not address.isprintable() or " " in address:
        return None
    return parts


def _refused(what: str, address: str, why: str) -> LoginRefused:
    return LoginRefused(
        f"{what} is {shown_url(address)[:200]}, {why}: nothing is sent there", code="oauth_address"
    )
