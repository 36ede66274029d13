"""What no text may show: known secrets in every form, credentials by their shape."""

import base64
import html
import json
import time
from urllib.parse import quote, quote_plus

import pytest

from redshank_shared.vault.redaction import Redactor

SECRET = 'canary/of the+"vault"=='


@pytest.mark.fault("F-12")
@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET, safe=""),
        quote(SECRET),
        quote_plus(SECRET),
        quote(SECRET, safe="").replace("%2F", "%2f").replace("%3D", "%3d"),
        json.dumps(SECRET),
        json.dumps({"said": SECRET}),
        repr(SECRET),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        quote(SECRET, safe="!~*'()"),
        quote(SECRET, safe=";,/?:@&=+$-_.!~*'()#"),
        quote(SECRET, safe="").replace("%2B", "%2b").replace("%2F", "%2f").replace("%3D", "%3d"),
        json.dumps(json.dumps(SECRET)),
        json.dumps(SECRET).replace("/", "\\/"),
        html.escape(SECRET),
        html.escape(SECRET, quote=False),
        html.escape(SECRET).replace("&quot;", "&#34;"),
        repr(SECRET.encode()),
        'canary/of\\ the+\\"vault\\"==',
    ],
)
def test_a_known_secret_is_masked_in_each_of_its_forms(form: str) -> None:
    for redact in (Redactor([SECRET]).of_output, Redactor([SECRET]).of_log):
        shown = redact(f"before {form} behind")
        assert "***" in shown
        assert form.strip("\"'") not in shown
        assert shown.startswith("before ")
        assert shown.endswith(" behind")


@pytest.mark.fault("F-12")
@pytest.mark.parametrize("before", [b"", b"a", b"ab", b"user:", b"x" * 10])
@pytest.mark.parametrize("behind", [b"", b"z", b"zz", b"\n"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_known_secret_is_masked_in_base64_wherever_it_begins(
    before: bytes, behind: bytes, encode: object
) -> None:
    encoded = encode(before + SECRET.encode() + behind).decode()  # type: ignore[operator]  # one of two
    shown = Redactor([SECRET]).of_output(encoded)
    assert "***" in shown
    assert len(shown) <= len(encoded) - len(SECRET) + 8


@pytest.mark.fault("F-12")
@pytest.mark.parametrize(
    "form",
    [
        # As encoding/json of Go, encodeURIComponent, and `printf %q` of bash print it.
        r"p\u0026ss\u003cw0rd\u003e'1",
        "p%26ss%3Cw0rd%3E'1",
        r"p\&ss\<w0rd\>\'1",
        "p&amp;ss&lt;w0rd&gt;&#39;1",
        "p&amp;ss&lt;w0rd&gt;&#x27;1",
    ],
)
def test_a_password_of_signs_is_masked_as_other_programs_escape_it(form: str) -> None:
    assert Redactor(["p&ss<w0rd>'1"]).of_output(f'{{"is": "{form}"}}') == '{"is": "***"}'


LONG = "canary-" + "-".join(f"part{number:02}of-a-long-token" for number in range(8))


def in_lines(text: str, width: int, end: str) -> str:
    return end.join(text[at : at + width] for at in range(0, len(text), width))


@pytest.mark.fault("F-12")
@pytest.mark.parametrize("before", ["", "a=", "TOKEN of the day: " * 4])
@pytest.mark.parametrize("width", [60, 64, 76])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n    ", "\\n", "\\r\\n"])
@pytest.mark.parametrize("in_hex", [False, True])
def test_a_long_secret_is_masked_where_its_encoding_is_broken_over_lines(
    before: str, width: int, end: str, in_hex: bool
) -> None:
    data = f"{before}{LONG} and more".encode()
    encoded = data.hex() if in_hex else base64.b64encode(data).decode()
    text = f"data: {in_lines(encoded, width, end)}"
    redactor = Redactor([LONG])
    shown = redactor.of_output(text)
    assert redactor.knows(text)
    assert "***" in shown
    assert len(shown) < len(text) - len(LONG)
    assert not redactor.knows(shown)


def test_long_lines_without_a_secret_stay_as_they_are() -> None:
    text = in_lines(base64.b64encode(bytes(range(256)) * 20).decode(), 76, "\n")
    assert Redactor([LONG]).of_output(text) == text


def test_a_secret_of_several_lines_is_masked_line_by_line() -> None:
    secret = "-----BEGIN CANARY-----\nfirst-line-of-the-canary\nsecond-line-of-canary\n"
    shown = Redactor([secret]).of_output("[stderr] first-line-of-the-canary\n[stderr] ok\n")
    assert shown == "[stderr] ***\n[stderr] ok\n"
    assert Redactor([secret]).of_output("-----BEGIN CANARY-----") == "-----BEGIN CANARY-----"


def test_the_longest_known_secret_goes_first() -> None:
    redactor = Redactor(["canary", "canary-and-more"])
    assert redactor.of_known("a canary-and-more, a canary") == "a ***, a ***"


def test_short_values_are_not_known_for_they_would_eat_words() -> None:
    assert Redactor(["pass", ""]).of_known("the pass over the hill") == "the pass over the hill"


def test_what_was_learned_is_never_forgotten() -> None:
    redactor = Redactor()
    redactor.learn("canary-old")
    redactor.learn("canary-new")
    assert redactor.of_known("canary-old canary-new") == "*** ***"
    assert redactor.knows("with canary-old in it")
    assert not redactor.knows("with nothing in it")


@pytest.mark.req("K-62")
@pytest.mark.fault("F-12")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abcd1234efgh", "Authorization: Bearer ***"),
        ('{"authorization": "Basic dXNlcjpwYXNzd29yZDE="}', '{"authorization": "Basic ***"}'),
        ("x-api-key: abcd1234efgh", "x-api-key: ***"),
        ("Set-Cookie: session=abcd1234; Path=/", "Set-Cookie: *** Path=/"),
        ("serve --token=x", "serve --token=***"),
        ("serve --api-key abcd1234 --port 8", "serve --api-key *** --port 8"),
        ("postgresql://me:pw@h/db", "postgresql://me:***@h/db"),
        ("redis://:pw@h:6379/0", "redis://:***@h:6379/0"),
        ("https://h/x?a=1&access_token=abc&b=2", "https://h/x?a=1&access_token=***&b=2"),
        ("OPENAI_API_KEY=abcdef-ghijkl", "OPENAI_API_KEY=***"),
        ("export DB_PASSWORD='correct-horse'", "export DB_PASSWORD='***'"),
        ('"clientSecret": "abcd1234"', '"clientSecret": "***"'),
        ("key sk-proj-abcdefghij1234567890 here", "key *** here"),
        ("ghp_abcdefghijklmnop1234", "***"),
        ("xoxb-123456789-abcdef", "***"),
        ("AKIAABCDEFGHIJKLMNOP", "***"),
        ("eyJhbGciOi12.eyJzdWIiOiIx.abcdefghijk", "***"),
        (
            "a\n-----BEGIN EC PRIVATE KEY-----\nMHc=\n-----END EC PRIVATE KEY-----\nb",
            "a\n-----BEGIN PRIVATE KEY----- *** -----END PRIVATE KEY-----\nb",
        ),
        ("-----BEGIN PRIVATE KEY-----\nMHcCAQ", "-----BEGIN PRIVATE KEY----- *** -----END"),
    ],
)
def test_credentials_are_masked_by_their_shape(text: str, shown: str) -> None:
    redactor = Redactor()
    assert redactor.of_output(text).startswith(shown)
    assert redactor.of_log(redactor.of_output(text)) == redactor.of_log(text)


@pytest.mark.parametrize(
    "text",
    [
        "def load(token: str, secret=None) -> str:",
        "token = get_token()",
        'API_KEY=os.environ["X"]',
        "export TOKEN=$(cat file)",
        "password = settings.password",
        "usage: serve --token TOKEN  the token",
        "basic functionality of the bearer class",
        "max_tokens=8192 monkey=1234567",
        "http://127.0.0.1:8090/v1@x",
        "task-management-1234567890123456",
        "the key is under the mat",
    ],
)
def test_a_program_s_source_stays_as_it_is_in_output(text: str) -> None:
    assert Redactor().of_output(text) == text


@pytest.mark.req("K-62")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("token: abcd", "token: ***"),
        ("password=hunter", "password=***"),
        ("auth: off", "auth: off"),
        ("--client-secret abcd", "--client-secret ***"),
        ("--token --verbose", "--token --verbose"),
    ],
)
def test_logs_lose_what_may_be_a_credential(text: str, shown: str) -> None:
    assert Redactor().of_log(text) == shown


@pytest.mark.parametrize(
    "piece", ["a", "a.", "--", "://", "token=", "A_", "-----BEGIN PRIVATE KEY-----", "--a-", "eyJ"]
)
def test_no_text_makes_masking_slow(piece: str) -> None:
    text = piece * (262144 // len(piece))
    began = time.process_time()
    Redactor([SECRET]).of_log(text)
    assert time.process_time() - began < 2.0
