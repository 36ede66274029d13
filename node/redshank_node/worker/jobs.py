"""The allow-list of job functions: what may come out of the queue, checked before anything is done.

Never imports what a payload names, never unpickles, never follows a callback.
"""

import re
import zlib
from typing import Literal

import msgspec

from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.ids import checked_id
from redshank_shared.queue import keys

_MOST_BYTES = 1024
_PREFIX = re.compile(r"^[a-z]{2,4}(?=_)")

FunctionName = Literal["advance", "poll", "push", "fire", "deliver"]

ALLOWED: dict[str, FunctionName] = {
    keys.ADVANCE: "advance",
    **{path: function for function, path in keys.KEPT_FUNCTIONS.items()},
}
"""What a payload may name, with the word for it here. Each takes one argument, an id."""

# With any of these a job would make RQ import and call what the hash names, or send to an address
# that it names.
_ACTING_FIELDS = (
    b"success_callback_name",
    b"failure_callback_name",
    b"stopped_callback_name",
    b"webhooks",
    b"dependency_id",
    b"dependency_ids",
    b"repeats_left",
    b"rate_limit_key",
    b"group_id",
)

_Payload = tuple[str, None, tuple[str], dict[str, str]]
_decoder = msgspec.json.Decoder(_Payload)


class JobCall(msgspec.Struct, frozen=True):
    """What a job asks for: one function of the list, one id."""

    function: FunctionName
    subject_id: str


def checked_call(data: bytes) -> JobCall:
    """A job's `data` as RQ writes it with JSON; raises Invalid for whatever is not on the list
    (F70).
    """
    try:
        path, _, (subject_id,), keyword_arguments = _decoder.decode(_inflated(data))
    except (zlib.error, msgspec.DecodeError) as error:
        raise Invalid(
            f"the payload is not [function, null, [id], {{}}] in JSON: {error}"
        ) from error
    function = ALLOWED.get(path)
    if function is None:
        raise Invalid(f"the function {path[:80]!r} is not on the list of jobs", field="function")
    if keyword_arguments:
        raise Invalid("a job takes one id and nothing else", field="arguments")
    return JobCall(function, _checked_subject(function, subject_id))


def checked_fields(fields: dict[bytes, bytes]) -> None:
    """Raises Invalid when a job's hash would make RQ act on something that the hash names (F70)."""
    for name in _ACTING_FIELDS:
        if fields.get(name):
            raise Invalid("the job carries a callback or an address", field=name.decode())


def _inflated(data: bytes) -> bytes:
    """The text, bounded before and after, so that a small payload cannot become a large one."""
    if len(data) > _MOST_BYTES:
        raise Invalid(f"the payload is longer than {_MOST_BYTES} bytes")
    inflater = zlib.decompressobj()
    text = inflater.decompress(data, _MOST_BYTES)
    if inflater.unconsumed_tail or not inflater.eof:
        raise Invalid(f"the payload is longer than {_MOST_BYTES} bytes or cut off")
    return text


def _checked_subject(function: FunctionName, value: str) -> str:
    if function == "advance":
        return checked_id("ws", value, "workstream")
    prefix = _PREFIX.match(value)
    return checked_id(prefix.group() if prefix else "id", value, "id")
