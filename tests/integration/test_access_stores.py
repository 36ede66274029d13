"""Users, their tokens, the record of what admins did, on both databases."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from redshank_shared.domain.access import Role
from redshank_shared.domain.errors import Conflict, Invalid, NotFound, Unauthenticated
from redshank_shared.stores.admin_audits import AdminAct, AdminAudits
from redshank_shared.stores.database import Database
from redshank_shared.stores.tokens import TokenRow, Tokens
from redshank_shared.stores.users import UserRow, Users

AT = "2026-11-30T08:15:00.250Z"
LATER = "2026-11-30T08:16:00.000Z"


def user(name: str, role: Role = "viewer") -> UserRow:
    return UserRow(name, role, "active", "admin", AT, AT)


def an_act(number: int = 0, act: str = "user.changed", who: str = "admin") -> AdminAct:
    return AdminAct(f"aud_{number:04}", AT, who, act, "ana")


def token(number: int, name: str = "ana", **more: object) -> TokenRow:
    given = {"token_id": f"tok_{number}", "scopes": ("read", "operate"), **more}
    return TokenRow(f"hash-{number}", "api", name, "viewer", **given)  # type: ignore[arg-type]


class Acts:
    """Fresh acts: their ids are unique."""

    def __init__(self) -> None:
        self._number = 0

    def __call__(self) -> AdminAct:
        self._number += 1
        return an_act(self._number)


@pytest.fixture
def act() -> Acts:
    """Makes acts."""
    return Acts()


@pytest.fixture
def users(database: Database, act: Acts) -> Users:
    """A store with the admin `root` and the viewer `ana`."""
    made = Users(database)
    assert made.create(user("root", "admin"), act())
    assert made.create(user("ana"), act())
    return made


@pytest.mark.req("B-33")
def test_a_user_is_made_once_then_listed_by_name(users: Users, act: Acts) -> None:
    assert not users.create(user("ana", "admin"), act())
    assert users.find("ana") == user("ana")
    assert users.find("nobody") is None
    first = users.page(limit=1)
    assert (first.items, first.total) == ((user("ana"),), 2)
    second = users.page(limit=1, cursor=first.next_cursor)
    assert (second.items, second.next_cursor) == ((user("root", "admin"),), None)
    with pytest.raises(Invalid) as wrong:
        users.page(limit=0)
    assert wrong.value.field == "limit"


@pytest.mark.req("B-33")
def test_an_act_is_written_with_the_change_or_not_at_all(
    users: Users, database: Database, act: Acts
) -> None:
    audits = AdminAudits(database)
    before = audits.page().total
    assert not users.create(user("ana"), act())
    with pytest.raises(NotFound):
        users.change("nobody", "viewer", None, LATER, act())
    with pytest.raises(Conflict):
        users.remove("root", act())
    assert audits.page().total == before
    users.change("ana", "operator", None, LATER, act())
    assert audits.page().total == before + 1


@pytest.mark.fault("F72")
def test_a_user_who_is_revoked_loses_every_token_for_good(
    users: Users, database: Database, act: Acts
) -> None:
    tokens = Tokens(database)
    tokens.put(token(1))
    tokens.put(msgspec.structs.replace(token(1), token_hash="cookie", kind="session"))
    tokens.put(token(2, "root"))
    users.change("ana", None, "revoked", LATER, act())
    assert tokens.holder("hash-1") is tokens.holder("cookie") is None
    again = users.change("ana", None, "active", LATER, act())
    assert (again.state, again.updated_at) == ("active", LATER)
    assert tokens.holder("hash-1") is None
    assert tokens.holder("hash-2") is not None
    tokens.put(token(3))
    users.remove("ana", act())
    assert tokens.find("hash-3") is None
    assert users.find("ana") is None


@pytest.mark.fault("F71")
def test_what_a_token_may_follows_the_users_role_at_once(
    users: Users, database: Database, act: Acts
) -> None:
    tokens = Tokens(database)
    tokens.put(token(1, scopes=("read", "operate", "admin")))
    seen = []
    for role in ("operator", "admin", "viewer"):
        users.change("ana", role, None, LATER, act())  # type: ignore[arg-type]
        holder = tokens.holder("hash-1")
        assert holder is not None
        assert holder == tokens.holders(["hash-1", "no-such"])["hash-1"]
        seen.append((holder.role, holder.scopes))
    assert seen == [
        ("operator", {"read", "operate"}),
        ("admin", {"read", "operate", "admin"}),
        ("viewer", {"read"}),
    ]


@pytest.mark.parametrize("how", ["lower", "revoke", "remove"])
def test_the_last_active_admin_stays(users: Users, act: Acts, how: str) -> None:
    def go(name: str) -> None:
        match how:
            case "lower":
                users.change(name, "operator", None, LATER, act())
            case "revoke":
                users.change(name, None, "revoked", LATER, act())
            case _:
                users.remove(name, act())

    with pytest.raises(Conflict) as refused:
        go("root")
    assert refused.value.code == "last_admin"
    users.change("ana", "admin", None, LATER, act())
    go("root")
    with pytest.raises(Conflict):
        go("ana")
    assert users.find("ana") == msgspec.structs.replace(user("ana", "admin"), updated_at=LATER)


def test_of_admins_who_lower_each_other_at_once_one_stays(users: Users, act: Acts) -> None:
    names = ["root", *(f"admin-{number}" for number in range(4))]
    for name in names[1:]:
        users.create(user(name, "admin"), act())
    acts = [act() for _ in names]

    def lower(name: str, how: AdminAct) -> bool:
        try:
            users.change(name, "viewer", None, LATER, how)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(5) as threads:
        lowered = list(threads.map(lower, names, acts))
    assert lowered.count(False) == 1
    assert [row.role for row in users.page().items].count("admin") == 1


@pytest.mark.fault("F72")
def test_a_revoked_token_takes_its_sessions_along(
    users: Users, database: Database, act: Acts
) -> None:
    tokens = Tokens(database)
    for number in (1, 2):
        session = {"token_hash": f"cookie-{number}", "kind": "session"}
        tokens.put(token(number))
        tokens.put(msgspec.structs.replace(token(number), **session))
    assert tokens.revoke_id("tok_1", act())
    assert not tokens.revoke_id("tok_1", act())
    left = tokens.holders(["hash-1", "cookie-1", "hash-2", "cookie-2"])
    assert set(left) == {"hash-2", "cookie-2"}


@pytest.mark.fault("F72")
def test_a_replaced_secret_ends_with_its_sessions_an_equal_one_goes_on(
    users: Users, database: Database
) -> None:
    tokens = Tokens(database)
    first = token(1, "root")
    session = {"token_hash": "cookie", "kind": "session"}
    tokens.replace(first)
    tokens.put(msgspec.structs.replace(first, **session))
    tokens.replace(first)
    assert set(tokens.holders(["hash-1", "cookie"])) == {"hash-1", "cookie"}
    tokens.replace(msgspec.structs.replace(first, token_hash="rotated"))
    assert set(tokens.holders(["hash-1", "cookie", "rotated"])) == {"rotated"}


@pytest.mark.fault("F-72")
def test_a_session_or_link_of_what_was_revoked_meanwhile_never_begins(
    users: Users, database: Database, act: Acts
) -> None:
    tokens = Tokens(database)
    tokens.put(token(1))
    session = msgspec.structs.replace(token(1), token_hash="cookie", kind="session")
    link = msgspec.structs.replace(token(1), token_hash="code", kind="signin")
    assert tokens.revoke_id("tok_1", act())
    with pytest.raises(Unauthenticated, match="revoked"):
        tokens.begin_session(session)
    with pytest.raises(Unauthenticated, match="revoked"):
        tokens.mint(link, act())
    tokens.put(token(2))
    users.change("ana", None, "revoked", LATER, act())
    with pytest.raises(Unauthenticated, match="ana may not come in"):
        tokens.begin_session(msgspec.structs.replace(session, token_id="tok_2"))
    with pytest.raises(Unauthenticated, match="ana may not come in"):
        tokens.mint(token(3), act())
    users.change("ana", None, "active", LATER, act())
    assert [tokens.find(each) for each in ("cookie", "code", "hash-3")] == [None] * 3


@pytest.mark.fault("F-72")
def test_of_a_token_that_is_revoked_while_it_signs_in_no_session_is_left(
    users: Users, database: Database, act: Acts
) -> None:
    tokens, ways = Tokens(database), []

    def signs_in(number: int) -> None:
        row = msgspec.structs.replace(token(number), token_hash=f"cookie-{number}", kind="session")
        with contextlib.suppress(Unauthenticated):
            tokens.begin_session(row)

    with ThreadPoolExecutor(4) as pool:
        for number in range(1, 13):
            tokens.put(token(number))
            ways.append(pool.submit(signs_in, number))
            ways.append(pool.submit(tokens.revoke_id, f"tok_{number}", act()))
    for way in ways:
        way.result()
    assert [tokens.find(f"cookie-{number}") for number in range(1, 13)] == [None] * 12


def test_api_tokens_are_listed_the_newest_first_expired_ones_too(
    users: Users, database: Database, act: Acts
) -> None:
    tokens = Tokens(database)
    tokens.mint(token(1, label="nightly", created_by="root"), act())
    tokens.mint(token(2, "root", expires_at=1.0), act())
    tokens.put(msgspec.structs.replace(token(1), token_hash="cookie", kind="session"))
    first = tokens.page(limit=1)
    assert (first.items[0].token_id, first.items[0].expired, first.total) == ("tok_2", True, 2)
    (second,) = tokens.page(limit=1, cursor=first.next_cursor).items
    assert (second.name, second.scopes, second.label, second.created_by, second.expired) == (
        "ana",
        ("read", "operate"),
        "nightly",
        "root",
        False,
    )
    assert [one.token_id for one in tokens.page("ana").items] == ["tok_1"]
    assert tokens.holder("hash-2") is None
    assert tokens.of_id("tok_2") is None
    assert tokens.of_id("tok_1") == token(1, label="nightly", created_by="root")


@pytest.mark.req("B-33")
def test_acts_are_read_the_newest_first_by_person_by_kind(database: Database) -> None:
    audits = AdminAudits(database)
    for number in range(4):
        who = "ana" if number % 2 else "root"
        audits.append(an_act(number, "rule.added" if number < 3 else "secret.set", who))
    whole = [one.audit_id for one in audits.page().items]
    assert whole == ["aud_0003", "aud_0002", "aud_0001", "aud_0000"]
    first = audits.page(limit=3)
    assert (len(first.items), first.total) == (3, 4)
    rest = audits.page(limit=3, cursor=first.next_cursor)
    assert ([one.audit_id for one in rest.items], rest.next_cursor) == (["aud_0000"], None)
    assert [one.audit_id for one in audits.page(who="ana").items] == ["aud_0003", "aud_0001"]
    assert audits.page(who="ana", act="rule.added").total == 1


@pytest.mark.fault("F43")
def test_a_target_that_no_database_stores_is_mended(database: Database) -> None:
    audits = AdminAudits(database)
    audits.append(msgspec.structs.replace(an_act(), target="a\0b\ud800"))
    assert audits.page().items[0].target == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}"
