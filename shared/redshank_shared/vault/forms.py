"""The texts that a secret stands as: itself, in addresses, JSON, HTML, base64, hexadecimal."""

import base64
import html
import json
import re
from urllib.parse import quote, quote_plus

SHORTEST_SECRET = 6
_SHORTEST_FORM = 8
_SHORTEST_LINE = 16
# What JavaScript leaves as it is in a part of an address, in a whole one.
_JS_PART = "-_.!~*'()"
_JS_WHOLE = f"{_JS_PART};,/?:@&=+$#"
_ESCAPE = re.compile("%[0-9A-F]{2}")
_SHELL_SIGN = re.compile(r"([^\w@%+=:,./-])")
# As Go writes them into JSON.
_GO_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}


def forms_of(secret: str) -> set[str]:
    """Every text to be masked where this secret is to be; none for one of fewer than 6 characters:
    masking it would eat ordinary words.
    """
    secret = secret.strip()
    if len(secret) < SHORTEST_SECRET:
        return set()
    data = secret.encode(errors="surrogatepass")
    escaped = _in_addresses(secret) | _in_json(secret) | _in_html(secret) | _in_programs(secret)
    encoded = {form for shift in range(3) for form in _in_base64(data, shift)}
    encoded |= {data.hex(), data.hex().upper()}
    lines = {line for line in secret.splitlines() if len(line) >= _SHORTEST_LINE}
    longer = {form for form in encoded | lines if len(form) >= _SHORTEST_FORM}
    forms = {secret, secret.replace("\n", "\r\n"), *escaped, *longer}
    # The frame of a key in PEM is no secret.
    return {form for form in forms if not form.startswith("-----END ")} - {
        line for line in lines if line.startswith("-----")
    }


def _in_addresses(secret: str) -> set[str]:
    safe = ("", "/", _JS_PART, _JS_WHOLE)
    quoted = {quote_plus(secret), *(quote(secret, safe=each) for each in safe)}
    lowered = {_ESCAPE.sub(lambda found: found[0].lower(), form) for form in quoted}
    lowered |= {form.replace("%2F", "%2f").replace("%3D", "%3d") for form in quoted}
    return quoted | lowered | {form.replace("%", "%25") for form in quoted | lowered}


def _in_json(secret: str) -> set[str]:
    plain = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    slashed = {form.replace("/", "\\/") for form in plain}
    # Not of JSON alone: `\u0026` stands as well in a text that is no JSON.
    from_go = {form.translate(_GO_ESCAPES) for form in plain}
    once = plain | slashed | from_go
    return once | {json.dumps(form, ensure_ascii=False)[1:-1] for form in once}


def _in_html(secret: str) -> set[str]:
    quoted = html.escape(secret)
    by_number = quoted.replace("&#x27;", "&#39;")
    return {
        quoted,
        html.escape(secret, quote=False),
        by_number,
        by_number.replace("&quot;", "&#34;"),
        html.escape(secret, quote=False).replace('"', "&quot;"),
    }


def _in_programs(secret: str) -> set[str]:
    """As Python shows a text or bytes, as a shell takes it."""
    data = secret.encode(errors="surrogatepass")
    return {
        repr(secret)[1:-1],
        repr(data)[2:-1],
        secret.replace("'", "'\\''"),
        secret.replace("'", "'\"'\"'"),
        _SHELL_SIGN.sub(r"\\\1", secret),
    }


def _in_base64(data: bytes, shift: int) -> set[str]:
    """What the secret looks like inside a longer text in base64, `shift` bytes behind a boundary.

    The characters that it shares with its neighbours are left out.
    """
    encoded = base64.b64encode(b"\0" * shift + data).decode()
    before = (0, 2, 3)[shift]
    whole = (shift + len(data)) // 3 * 4
    inner = encoded[before:whole]
    return {inner, inner.replace("+", "-").replace("/", "_")}
