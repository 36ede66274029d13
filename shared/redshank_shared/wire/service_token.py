"""Signs what one of our processes shows to another: a JWT that names its audience."""

from datetime import datetime

import jwt

from redshank_shared.domain.errors import Misconfigured, Unauthenticated

GATEWAY_AUDIENCE = "redshank-gateway"
CONSOLE_AUDIENCE = "redshank-console"
SHORTEST_SECRET_BYTES = 32
_ALGORITHM = "HS256"
_CLAIMS = ["aud", "exp", "iat", "sub"]
# Clocks of two machines differ: a token from this far ahead is still taken.
_SKEW_SECONDS = 30
_MEND = (
    "gateway.service_secret_env, or else gateway.service_secret_slot (the variable "
    "REDSHANK_SLOT__GATEWAY_SERVICE), must lead to the same secret in every process"
)


def sign(secret: str, subject: str, audience: str, now: datetime, ttl_seconds: int = 60) -> str:
    """A token that `audience` takes from `subject` for so many seconds after `now` (T-43).

    Misconfigured where the secret has fewer than 32 bytes.
    """
    check_secret(secret)
    issued = int(now.timestamp())
    claims = {"sub": subject, "aud": audience, "iat": issued, "exp": issued + ttl_seconds}
    return jwt.encode(claims, secret, algorithm=_ALGORITHM)


def verify(token: str, secret: str, audience: str, now: datetime) -> str:
    """The subject of a token signed with this secret for this audience, within its time.

    Unauthenticated names the cause, with the mend (F42); Misconfigured where the secret is short.
    """
    check_secret(secret)
    claims = _decoded(token, secret, audience)
    subject, issued, expires = claims["sub"], claims["iat"], claims["exp"]
    if not isinstance(subject, str) or not isinstance(issued, int) or not isinstance(expires, int):
        raise Unauthenticated("the token's sub, iat or exp has another type", code="bad_token")
    seconds = int(now.timestamp())
    if expires <= seconds:
        raise Unauthenticated(
            f"the token ended {seconds - expires} s ago: sign a new one for each request, and "
            f"compare the clocks of both machines",
            code="token_expired",
        )
    if issued > seconds + _SKEW_SECONDS:
        raise Unauthenticated(
            f"the token was signed {issued - seconds} s in the future: compare the clocks of both "
            f"machines",
            code="bad_token",
        )
    return subject


def check_secret(secret: str) -> None:
    """Misconfigured where the secret is missing or has fewer than 32 bytes."""
    if not secret:
        raise Misconfigured(
            f"there is no service secret: {_MEND}", field="gateway.service_secret_slot"
        )
    if len(secret.encode()) < SHORTEST_SECRET_BYTES:
        raise Misconfigured(
            f"the service secret has fewer than {SHORTEST_SECRET_BYTES} bytes, so it could be "
            f"guessed: take a random one of that length or more; {_MEND}",
            field="gateway.service_secret_slot",
        )


def bearer(header: str | None) -> str:
    """The token of an Authorization header; Unauthenticated where it brings none."""
    kind, _, token = (header or "").partition(" ")
    if kind.lower() != "bearer" or not token.strip():
        raise Unauthenticated("send Authorization: Bearer with a service token", code="no_token")
    return token.strip()


def _decoded(token: str, secret: str, audience: str) -> dict[str, object]:
    try:
        return jwt.decode(
            token,
            secret,
            algorithms=[_ALGORITHM],
            audience=audience,
            # The caller says what time it is, so the times are judged there.
            options={
                "require": _CLAIMS,
                "strict_aud": True,
                "verify_exp": False,
                "verify_iat": False,
                "verify_nbf": False,
                "verify_sub": False,
            },
        )
    except jwt.InvalidAudienceError as error:
        raise Unauthenticated(
            f"the token is for another audience: sign it for {audience}", code="wrong_audience"
        ) from error
    except jwt.MissingRequiredClaimError as error:
        raise Unauthenticated(
            f"the token lacks {error.claim}: it needs {', '.join(_CLAIMS)}", code="bad_token"
        ) from error
    except jwt.InvalidSignatureError as error:
        raise Unauthenticated(
            f"the token was signed with another secret: {_MEND}", code="wrong_secret"
        ) from error
    except jwt.InvalidTokenError as error:
        raise Unauthenticated(
            f"the token is no JWT signed with {_ALGORITHM}", code="bad_token"
        ) from error
