"""What one process shows another: who may speak to a gateway, why one may not."""

from datetime import UTC, datetime, timedelta
from typing import Any

import jwt
import pytest

from redshank_shared.domain.errors import Misconfigured, Unauthenticated
from redshank_shared.wire.service_token import (
    CONSOLE_AUDIENCE,
    GATEWAY_AUDIENCE,
    bearer,
    sign,
    verify,
)

SECRET = "a-secret-of-more-than-thirty-two-bytes"
OTHER = "another-secret-of-more-than-thirty-two"
NOW = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


def refusal(token: str, at: datetime = NOW) -> Unauthenticated:
    with pytest.raises(Unauthenticated) as caught:
        verify(token, SECRET, GATEWAY_AUDIENCE, at)
    return caught.value


def forged(secret: str = SECRET, algorithm: str = "HS256", **changes: Any) -> str:
    """A token with other claims; None takes a claim out."""
    seconds = int(NOW.timestamp())
    claims = {"sub": "nd_1", "aud": GATEWAY_AUDIENCE, "iat": seconds, "exp": seconds + 60}
    claims |= changes
    kept = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(kept, secret, algorithm=algorithm)


@pytest.mark.req("T-43")
def test_a_token_says_who_signed_it_for_a_minute() -> None:
    token = sign(SECRET, "nd_1", GATEWAY_AUDIENCE, NOW)
    for seconds in (0, 59):
        at = NOW + timedelta(seconds=seconds)
        assert verify(token, SECRET, GATEWAY_AUDIENCE, at) == "nd_1"
    error = refusal(token, NOW + timedelta(seconds=60))
    assert (error.code, "clocks" in error.detail) == ("token_expired", True)


@pytest.mark.req("T-43")
def test_a_token_for_another_audience_is_refused_with_the_right_one() -> None:
    error = refusal(sign(SECRET, "nd_1", CONSOLE_AUDIENCE, NOW))
    assert (error.code, "redshank-gateway" in error.detail) == ("wrong_audience", True)


@pytest.mark.fault("F42")
def test_another_secret_is_refused_with_the_settings_to_compare() -> None:
    error = refusal(sign(OTHER, "nd_1", GATEWAY_AUDIENCE, NOW))
    assert (error.code, "gateway.service_secret_env" in error.detail) == ("wrong_secret", True)


@pytest.mark.parametrize(
    "token",
    [
        forged("", "none"),
        forged("a-secret-for-sha-512" * 4, "HS512"),
        forged(sub=None),
        forged(exp=None),
        forged(iat=None),
        forged(sub=7),
        forged(exp="tomorrow"),
        forged(iat=int(NOW.timestamp()) + 3600),
        "no.token.atall",
        "",
    ],
)
def test_a_token_without_algorithm_claims_or_form_is_refused(token: str) -> None:
    assert refusal(token).code == "bad_token"


@pytest.mark.parametrize("audience", [None, [GATEWAY_AUDIENCE, CONSOLE_AUDIENCE]])
def test_a_token_names_exactly_one_audience(audience: object) -> None:
    assert refusal(forged(aud=audience)).code in ("bad_token", "wrong_audience")


@pytest.mark.fault("F42")
@pytest.mark.parametrize("secret", ["", "short"])
def test_a_secret_that_is_missing_or_short_is_the_operators_to_mend(secret: str) -> None:
    with pytest.raises(Misconfigured, match=r"gateway\.service_secret_slot"):
        sign(secret, "nd_1", GATEWAY_AUDIENCE, NOW)
    with pytest.raises(Misconfigured, match=r"gateway\.service_secret_slot"):
        verify("a.b.c", secret, GATEWAY_AUDIENCE, NOW)


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer  ", "Basic abc"])
def test_a_request_without_a_token_is_told_what_to_send(header: str | None) -> None:
    with pytest.raises(Unauthenticated, match="Authorization: Bearer"):
        bearer(header)


def test_the_token_is_read_from_the_header() -> None:
    assert bearer("bearer a.b.c ") == "a.b.c"
