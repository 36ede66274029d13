"""Says what went wrong at a model server: a stable code, whether to try again, the mend."""

import email.utils
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import msgspec

from redshank_node.providers.provider import ModelFailed, ModelSettings

_SHOWN_CHARACTERS = 500
_CONTEXT = re.compile(
    r"context[ _-]?(length|size|window)|maximum context|exceed_context|too many (input )?tokens"
    r"|(prompt|input) is too long|reduce the length|request_too_large|max_model_len",
    re.IGNORECASE,
)
_BY_STATUS: dict[int, tuple[str, bool]] = {
    401: ("model_refused_key", False),
    403: ("model_refused_key", False),
    404: ("model_not_found", False),
    408: ("model_error", True),
    409: ("model_error", True),
    413: ("context_too_long", False),
    425: ("model_error", True),
    429: ("model_rate_limited", True),
    503: ("model_overloaded", True),
    529: ("model_overloaded", True),
}
_BY_KIND: dict[str, tuple[str, bool]] = {
    "authentication_error": ("model_refused_key", False),
    "permission_error": ("model_refused_key", False),
    "invalid_api_key": ("model_refused_key", False),
    "not_found_error": ("model_not_found", False),
    "notfounderror": ("model_not_found", False),
    "model_not_found": ("model_not_found", False),
    "rate_limit_error": ("model_rate_limited", True),
    "rate_limit_exceeded": ("model_rate_limited", True),
    "insufficient_quota": ("model_rate_limited", False),
    "billing_error": ("model_rate_limited", False),
    "overloaded_error": ("model_overloaded", True),
    "unavailable_error": ("model_overloaded", True),
    "request_too_large": ("context_too_long", False),
}
_CALLERS_FAULT = {"invalid_request_error", "badrequesterror"}
_KINDS = _CALLERS_FAULT | _BY_KIND.keys()


class Failures:
    """Makes the ModelFailed of one configured model; its key never stands in one (F12)."""

    def __init__(self, settings: ModelSettings, base_url: str) -> None:
        self._key = f"models.{settings.name}"
        self._model = settings.model
        self._secret = settings.api_key
        self._timeout_seconds = settings.timeout_seconds
        self._url = shown_url(base_url)

    def status(self, status: int, headers: Mapping[str, str], body: bytes) -> ModelFailed:
        """The server answered with another status than 200."""
        words, kind, _ = _said(body)
        code, retry = _classified(status, kind, words)
        if 300 <= status < 400:
            words = f"it redirects to {shown_url(headers.get('location', ''))}"
        return self._failed(
            code, retry, f"answered {status}: {words}", delay_seconds=asked_delay(headers)
        )

    def said(self, value: Any) -> ModelFailed:
        """An error object came in place of the answer, under status 200 (F46)."""
        words, kind, status = _told(value)
        code, retry = _classified(status, kind, words)
        return self._failed(code, retry, f"reported an error in place of an answer: {words}")

    def unreachable(self, words: str, *, retry: bool) -> ModelFailed:
        """No connection came about."""
        return ModelFailed(
            self._clean(
                f"Model {self._model}: nothing answers at {self._url} ({words}). "
                f"Start the server at {self._url} or change {self._key}.base_url."
            ),
            code="model_unreachable",
            retry=retry,
        )

    def silent(self, *, begun: bool) -> ModelFailed:
        """Not a byte came for the configured time."""
        return self._failed(
            "model_stream_cut" if begun else "model_unreachable",
            True,
            f"sent nothing for {self._timeout_seconds:g} seconds",
            f"See whether it still works, or raise {self._key}.timeout_seconds.",
        )

    def cut(self) -> ModelFailed:
        """The stream ended before the answer was whole."""
        return self._failed(
            "model_stream_cut",
            True,
            "ended the stream before its answer was whole",
            "If it goes on, look into the server's own log: it may have run out of memory.",
        )

    def empty(self, *, length: bool) -> ModelFailed:
        """The answer holds neither text nor a call; `length`: it ran into its token limit first."""
        if length:
            return self._failed(
                "model_empty",
                False,
                "used up its tokens before it answered anything",
                f"Raise {self._key}.max_output_tokens, or give the server a larger context.",
            )
        return self._failed(
            "model_empty",
            True,
            "gave an empty answer",
            "If it goes on, check the server's chat template for this model.",
        )

    def malformed(self, words: str) -> ModelFailed:
        """The bytes of the answer cannot be understood."""
        return self._failed("model_error", True, f"sent what is no answer: {words}")

    def page(self, body: bytes) -> ModelFailed:
        """A web page came in place of an answer."""
        words, _, _ = _said(body)
        return self._failed("model_error", False, f"answered with a web page: {words}")

    def too_large(self, limit_bytes: int) -> ModelFailed:
        """The answer grew over what one stream may hold."""
        return self._failed(
            "model_error",
            False,
            f"sent an answer of more than {limit_bytes >> 20} MiB",
            f"Lower {self._key}.max_output_tokens.",
        )

    def _failed(
        self,
        code: str,
        retry: bool,
        what: str,
        mend: str = "",
        delay_seconds: float | None = None,
    ) -> ModelFailed:
        what = what.rstrip(" .")
        text = f"Model {self._model} at {self._url} {what}. {mend or self._mend(code, retry)}"
        return ModelFailed(
            self._clean(text).strip(), code=code, retry=retry, delay_seconds=delay_seconds
        )

    def _mend(self, code: str, retry: bool) -> str:
        mends = {
            "model_refused_key": "Set a valid key in the secret that "
            f"{self._key}.api_key_slot or api_key_env names.",
            "model_not_found": f"Check {self._key}.model and {self._key}.base_url "
            "(for most servers it ends with /v1).",
            "context_too_long": "Compact the workstream, or set "
            f"{self._key}.context_window to what the server really has.",
            "model_overloaded": "It is busy or still loading: it is asked again; "
            "if that goes on, see to the server.",
            "model_rate_limited": "It is asked again after a while."
            if retry
            else "Raise the quota with the provider, or choose another model.",
        }
        if retry:
            return mends.get(code, "It is asked again; if that goes on, see the server's log.")
        return mends.get(code, f"Mend the cause that it names, or change {self._key}.")

    def _clean(self, text: str) -> str:
        return text.replace(self._secret, "[key]") if len(self._secret) > 3 else text


def asked_delay(headers: Mapping[str, str]) -> float | None:
    """Seconds that the answer's headers ask to wait; a date is measured by the answer's own."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after")
    seconds = _number(asked)
    if seconds is not None or asked is None:
        return seconds
    try:
        until = email.utils.parsedate_to_datetime(asked)
        sent = email.utils.parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (until - sent).total_seconds())
    except (ValueError, TypeError):
        return None


def shown_url(url: str) -> str:
    """An address without the user, password and query that may hold secrets."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that cannot be read"
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, place, parts.path, "", ""))


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _classified(status: int, kind: str, words: str) -> tuple[str, bool]:
    """The code of a failure, with whether another try may help. `status` 0: none is known."""
    if kind in _BY_KIND:
        return _BY_KIND[kind]
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if _CONTEXT.search(words):
        return "context_too_long", False
    if kind in _CALLERS_FAULT:
        return "model_error", False
    return "model_error", status == 0 or status >= 500


def _said(body: bytes) -> tuple[str, str, int]:
    """Words, kind and status of an error's body, which may be JSON, a page or text."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        text = body.decode("utf-8", "replace")
        if text.lstrip().startswith("<"):
            text = re.sub(r"(?is)<(script|style)\b.*?</\1>|<[^>]*>", " ", text)
        return _short(text) or "no words with it", "", 0
    return _told(value)


def _told(value: Any) -> tuple[str, str, int]:
    """Words, kind and status of an error object in any of the forms that servers use."""
    while isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict) and isinstance(value.get("error"), dict | str):
        value = value["error"]
    if not isinstance(value, dict):
        return _short(str(value)), "", 0
    words = value.get("message") or value.get("detail") or value.get("error") or value
    code = value.get("code")
    kind = next(
        (
            text.lower()
            for text in (code, value.get("type"))
            if isinstance(text, str) and text.lower() in _KINDS
        ),
        "",
    )
    statuses = (code, value.get("status"), value.get("status_code"))
    numbers = [_number(str(number)) for number in statuses if number is not None]
    status = next((int(number) for number in numbers if number and number >= 100), 0)
    return _short(words if isinstance(words, str) else str(words)), kind, status


def _short(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return f"{text[:_SHOWN_CHARACTERS]}…"
