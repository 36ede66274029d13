"""Approvals: what a word of a person's grants, what an end does, what a run is bound to."""

import msgspec
import pytest

from redshank_node.engine.asking import bound_of, changed_since
from redshank_node.tools.builtin import notify, write_file
from redshank_node.tools.tool import Prepared
from redshank_shared.domain.commands import (
    CloseWorkstream,
    ExpireApproval,
    Resolution,
    ResolveApprovals,
)
from redshank_shared.domain.decide import decide
from redshank_shared.domain.errors import Conflict
from redshank_shared.domain.events import (
    AnyFact,
    ApprovalRequested,
    ApprovalResolved,
    CallFinished,
    Preview,
    decode,
    encode,
)
from redshank_shared.domain.workstream import Workstream
from tests.unit.log_builders import (
    AT,
    answered,
    asked,
    decided,
    folded,
    posted,
    requested,
    then,
)

PREPARED = Prepared({"path": "a.txt", "_base_sha256": "1"}, Preview("a.txt"))
FOLDER = "/srv/reeds"


def waiting(**more: object) -> Workstream:
    """A workstream whose one call waits for a person."""
    request: ApprovalRequested = msgspec.structs.replace(requested("c1", "r1"), **more)
    return folded(posted(), answered(2, asked("c1")), decided("c1", "ask"), request)


def word(scope: str) -> ResolveApprovals:
    return ResolveApprovals((Resolution("r1", "allow", scope),), "ada")  # type: ignore[arg-type]


@pytest.mark.req("T-14")
@pytest.mark.parametrize(
    ("scope", "pattern", "granted"),
    [
        ("workstream", "watch:create", ("watch:create",)),
        ("workstream", "", ("bash",)),
        ("once", "watch:create", ()),
        ("always", "watch:create", ()),
    ],
)
def test_a_word_for_the_workstream_grants_the_pattern_that_was_shown(
    scope: str, pattern: str, granted: tuple[str, ...]
) -> None:
    state = waiting(pattern=pattern)
    after = then(state, *decide(state, word(scope), AT))
    assert after.granted == granted


@pytest.mark.req("K-49", "O-11")
def test_a_word_records_who_said_it_how_far_and_on_which_input() -> None:
    state = waiting()
    (resolved, *_) = decide(state, word("always"), AT)
    assert isinstance(resolved, ApprovalResolved)
    assert (resolved.by, resolved.scope) == ("ada", "always")
    assert resolved.original_digest == "sha256:00"


@pytest.mark.req("O-10")
def test_an_approval_whose_time_is_over_is_denied_by_the_clock() -> None:
    state = waiting(expires_at=1.0)
    resolved, result, _ = decide(state, ExpireApproval("r1", "clock"), AT)
    assert isinstance(resolved, ApprovalResolved)
    assert (resolved.behavior, resolved.by, resolved.reason) == (
        "deny",
        "clock",
        "nobody answered in time",
    )
    assert isinstance(result, CallFinished)
    assert (result.outcome, result.is_error) == ("denied", True)


@pytest.mark.req("O-10")
@pytest.mark.parametrize("scope", ["once", "workstream", "always"])
def test_nobody_allows_a_call_whose_time_is_over_though_no_clock_has_said_so_yet(
    scope: str,
) -> None:
    state = waiting(expires_at=1.0)
    with pytest.raises(Conflict) as refusal:
        decide(state, word(scope), "1970-01-01T00:00:01.000Z")
    assert (refusal.value.code, refusal.value.field) == (
        "approval_expired",
        "resolutions[0].request_id",
    )
    denied = ResolveApprovals((Resolution("r1", "deny", reason="no"),), "ada")
    resolved, *_ = decide(state, denied, "1970-01-01T00:00:01.000Z")
    assert isinstance(resolved, ApprovalResolved)
    assert (resolved.behavior, resolved.by) == ("deny", "ada")


@pytest.mark.req("O-10")
def test_an_end_changes_nothing_where_somebody_answered_or_no_end_was_set() -> None:
    for_ever = waiting()
    assert decide(for_ever, ExpireApproval("r1", "clock"), AT) == []
    state = waiting(expires_at=1.0)
    answered_before = then(state, *decide(state, word("once"), "1970-01-01T00:00:00.900Z"))
    assert decide(answered_before, ExpireApproval("r1", "clock"), AT) == []
    closed = then(state, *decide(state, CloseWorkstream("ada"), AT))
    with pytest.raises(Conflict):
        decide(closed, ExpireApproval("r1", "clock"), AT)


def test_facts_of_before_this_version_are_read() -> None:
    now: AnyFact = requested("c1", "r1")
    text = encode(now).replace('"pattern":"",', "").replace('"expires_at":null', '"bound":"{}"')
    assert decode("approval.requested", text) == now


@pytest.mark.fault("F-51")
@pytest.mark.parametrize(
    ("digest", "described", "folder", "said"),
    [
        ("1", "", FOLDER, ""),
        ("2", "", FOLDER, "the file has changed"),
        ("1", "", "/srv/other", "the working folder has changed"),
        ("1", "new", FOLDER, ""),
    ],
)
def test_what_was_looked_at_must_still_hold(
    digest: str, described: str, folder: str, said: str
) -> None:
    bound = bound_of(write_file.TOOL, PREPARED, FOLDER)
    arguments = {**PREPARED.arguments, "_base_sha256": digest}
    tool = msgspec.structs.replace(write_file.TOOL, described=described)
    now = bound_of(tool, msgspec.structs.replace(PREPARED, arguments=arguments), folder)
    assert said in changed_since(bound, now)
    assert bool(said) == bool(changed_since(bound, now))


@pytest.mark.fault("F-51")
def test_an_approval_of_an_earlier_version_is_bound_to_what_it_named() -> None:
    now = bound_of(write_file.TOOL, PREPARED, FOLDER)
    assert changed_since('{"_base_sha256":"1"}', now) == ""
    assert changed_since("{}", now) == ""
    assert "the file has changed" in changed_since('{"_base_sha256":"0"}', now)


def test_what_works_in_no_folder_is_not_bound_to_one() -> None:
    told = Prepared({"message": "hi"}, Preview("notify"))
    assert (
        changed_since(
            bound_of(notify.TOOL, told, FOLDER), bound_of(notify.TOOL, told, "/srv/other")
        )
        == ""
    )
