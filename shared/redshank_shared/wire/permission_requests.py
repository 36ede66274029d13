"""Bodies that HTTP clients send about permissions."""

from typing import Annotated, Any, Literal

from pydantic import Field

from redshank_shared.domain.events import Decision, Mode
from redshank_shared.wire.requests import Body, Text, Word

Note = Annotated[Text, Field(max_length=1000)]
# A policy's text in TOML or JSON, or the object that it says.
Policy = Annotated[Text, Field(max_length=1_000_000)] | dict[str, Any]


class NewRule(Body):
    """A rule to keep. `subject`: whose calls or which project's it speaks of, `*` for all; without
    one it is the caller, or the project `default`. `confirm` is needed for an allow of `*` (O28).
    """

    scope: Literal["project", "user"]
    subject: Word | None = None
    pattern: Word
    decision: Decision
    locked: bool = False
    note: Note = ""
    confirm: bool = False


class CheckedCall(Body):
    """A call to decide on without making it (K-47). `tool` may carry a label: `watch:create`."""

    tool: Word
    input: dict[str, Any] | None = None
    workstream: Word | None = None
    mode: Mode | None = None
    profile: Word | None = None


class RuntimeCheckedCall(Body):
    """The same under the names of K-47."""

    tool_name: Word
    tool_call_id: Word | None = None
    session_id: Word | None = None
    input: dict[str, Any] | None = None
    mode_override: Mode | None = None


class SupposedRule(Body):
    """A rule that a matrix supposes."""

    scope: Literal["session", "project", "user"]
    pattern: Word
    decision: Decision
    locked: bool = False


class AskedMatrix(Body):
    """Whose matrix: of a profile, of a workstream, in one mode or all. `rules` stand in place of
    the stored ones.
    """

    profile: Word | None = None
    workstream: Word | None = None
    mode: Mode | None = None
    rules: Annotated[tuple[SupposedRule, ...], Field(max_length=5000)] | None = None


class RuntimeAskedMatrix(Body):
    """The same under the names of K-47."""

    session_id: Word | None = None
    mode_override: Mode | None = None


class TriedPolicy(Body):
    """A policy with what is expected of it (B-5)."""

    policy: Policy
    profile: Word | None = None


class ComparedPolicies(Body):
    """Two policies; one that is left out is the one in force (B-5)."""

    before: Policy | None = None
    after: Policy | None = None
    profile: Word | None = None
