"""What can go wrong, by who must act; every message says the mend (law 8)."""


class RedshankError(Exception):
    """Something refused or failed. `code` is stable, `detail` says what to do, `field` names the
    input to blame.
    """

    code = "error"

    def __init__(self, detail: str, *, code: str | None = None, field: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.field = field
        if code is not None:
            self.code = code


class Invalid(RedshankError):
    """The caller must mend the input: it is malformed or outside its bounds."""

    code = "invalid"


class NotFound(RedshankError):
    """The caller named something that is not there."""

    code = "not_found"


class Conflict(RedshankError):
    """The input was well formed, but the state of the thing does not allow it."""

    code = "conflict"


class NotAllowed(RedshankError):
    """The caller is known and may not do this."""

    code = "not_allowed"


class Unauthenticated(RedshankError):
    """The caller must sign in or send a valid token."""

    code = "unauthenticated"


class TooMany(RedshankError):
    """The caller came too often: the same will be taken after `retry_after_seconds`."""

    code = "too_many_requests"

    def __init__(self, detail: str, retry_after_seconds: int, *, code: str | None = None) -> None:
        super().__init__(detail, code=code)
        self.retry_after_seconds = retry_after_seconds


class Unavailable(RedshankError):
    """Something that we stand on does not answer: try again, or the operator must act."""

    code = "unavailable"


class Misconfigured(RedshankError):
    """The operator must mend the configuration before the process can start."""

    code = "misconfigured"


class VersionMoved(RedshankError):
    """Somebody appended since the state was read: load what is new, decide again."""

    code = "version_moved"


class Fenced(RedshankError):
    """The lease went to another holder: drop everything in hand, write nothing."""

    code = "fenced"
