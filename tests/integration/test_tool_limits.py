"""Runtime limits, assets, dead letters: what the stores keep, on either database."""

from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from redshank_shared.domain.asset_digests import checked_digest
from redshank_shared.domain.errors import Conflict, Invalid
from redshank_shared.domain.limits import Limits
from redshank_shared.stores.admin_audits import AdminAct, AdminAudits
from redshank_shared.stores.assets import Assets, digest_of
from redshank_shared.stores.database import Database
from redshank_shared.stores.hook_dead_letters import DeadLetter, HookDeadLetters
from redshank_shared.stores.permission_rules import Beside
from redshank_shared.stores.policy_revisions import PolicyRevisions
from redshank_shared.stores.tool_limits import ToolLimits

AT = "2026-11-30T08:15:00.250Z"


def narrowed(standing: Limits | None) -> Limits:
    return msgspec.structs.replace(standing or Limits(), max_parallel_tools=4)


@pytest.mark.req("K-84")
def test_every_change_of_the_limits_is_a_further_revision(database: Database) -> None:
    store = ToolLimits(database)
    assert store.current() is None

    first = store.set(narrowed, "ada", AT)
    second = store.set(
        lambda now: msgspec.structs.replace(now or Limits(), max_timeout_ms=1000), "ben", AT, 1
    )

    assert (first.revision, first.limits) == (1, Limits(max_parallel_tools=4))
    assert (second.revision, second.limits) == (
        2,
        Limits(max_parallel_tools=4, max_timeout_ms=1000),
    )
    assert store.current() == second
    assert PolicyRevisions(database).all()["tool_limits"] == 2


@pytest.mark.req("K-84", "B-33")
def test_limits_are_stored_with_the_act_that_sets_them_or_not_at_all(database: Database) -> None:
    store, act = ToolLimits(database), AdminAct("aud_1", AT, "ada", "tool_limits.set", "revision 1")
    first = store.set(narrowed, "ada", AT, None, lambda _: Beside(act))
    assert AdminAudits(database).page().items == (act,)
    with pytest.raises(Conflict):
        store.set(lambda _: Limits(), "ada", AT, 1, lambda _: Beside(act))
    assert store.current() == first
    assert PolicyRevisions(database).all() == {"tool_limits": 1}


@pytest.mark.req("K-84")
def test_a_change_of_another_revision_than_the_standing_one_changes_nothing(
    database: Database,
) -> None:
    store = ToolLimits(database)
    store.set(narrowed, "ada", AT)

    with pytest.raises(Conflict) as caught:
        store.set(lambda _: Limits(), "ben", AT, 0)

    assert caught.value.code == "revision_moved"
    assert caught.value.field == "expected_revision"
    assert [store.current()] == [store.current()]
    assert store.set(narrowed, "ada", AT, 1).revision == 2


@pytest.mark.req("K-81")
def test_limits_that_cannot_be_are_not_stored(database: Database) -> None:
    store = ToolLimits(database)

    with pytest.raises(Invalid, match="max_calls_per_turn is 0"):
        store.set(lambda _: Limits(max_calls_per_turn=0), "ada", AT)

    assert store.current() is None
    assert store.set(narrowed, "ada", AT, 0).revision == 1


@pytest.mark.req("K-84")
def test_of_many_changes_at_once_from_one_revision_one_goes_through(database: Database) -> None:
    store = ToolLimits(database)

    def change(_: int) -> bool:
        try:
            store.set(narrowed, "ada", AT, 0)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as threads:
        assert sum(threads.map(change, range(8))) == 1


@pytest.mark.req("O8")
def test_the_same_bytes_are_kept_once_under_their_digest(database: Database) -> None:
    assets = Assets(database)
    body, later = b"\x00\xff" * 1000, "2027-01-01T00:00:00.000Z"

    digest = assets.put(body, "text/plain; charset=utf-8", AT)
    again = assets.put(body, "image/png", later)

    assert digest == again == digest_of(body)
    kept = assets.get(digest)
    assert kept is not None
    assert (kept.body, kept.media_type) == (body, "text/plain; charset=utf-8")
    assert kept.created_at == later
    assert assets.get(digest_of(b"other")) is None


@pytest.mark.parametrize("text", ["", "sha256:", "sha256:" + "A" * 64, "a" * 63, "../" + "a" * 64])
def test_what_is_no_digest_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="sha256: and 64 hex digits"):
        checked_digest(text)


def test_a_digest_may_leave_its_kind_out() -> None:
    assert checked_digest("a" * 64) == checked_digest("sha256:" + "a" * 64) == "sha256:" + "a" * 64


@pytest.mark.req("K-80")
def test_dead_letters_are_listed_newest_first_page_by_page(database: Database) -> None:
    letters = HookDeadLetters(database)
    for number in range(5):
        at = f"2026-11-30T08:15:0{number}.000Z"
        letters.add(DeadLetter(f"hdl_{number}", at, "gate", "ws_1", "call_1", 2, "a\0b", "{}"))

    first = letters.page(2)
    second = letters.page(2, first.next_cursor)
    third = letters.page(2, second.next_cursor)

    pages = (first, second, third)
    assert [letter.dead_letter_id for page in pages for letter in page.items] == [
        f"hdl_{number}" for number in (4, 3, 2, 1, 0)
    ]
    assert first.total == 5
    assert third.next_cursor is None
    assert first.items[0].detail == "a\N{REPLACEMENT CHARACTER}b"
