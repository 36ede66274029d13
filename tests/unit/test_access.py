"""Roles, scopes: what is left of one by the other."""

import itertools

import pytest

from redshank_console.services.principal import Principal, require
from redshank_shared.domain.access import (
    ALL_SCOPES,
    ROLES,
    SCOPES_OF,
    effective,
    in_order,
    least_role,
)
from redshank_shared.domain.errors import NotAllowed

# Role, scopes of the token, what is left.
LEFT = [
    ("viewer", ("read",), ["read"]),
    ("viewer", ("read", "operate", "approve", "admin"), ["read"]),
    ("viewer", ("admin",), []),
    ("operator", ("read", "operate", "approve", "admin"), ["read", "operate", "approve"]),
    ("operator", ("approve",), ["approve"]),
    ("operator", ("read", "read"), ["read"]),
    ("admin", ("read",), ["read"]),
    ("admin", ("admin",), ["admin"]),
    ("admin", ("read", "operate", "approve", "admin"), ["read", "operate", "approve", "admin"]),
    ("admin", (), []),
    ("admin", ("root", "*"), []),
    ("emperor", ("read", "admin"), []),
    ("", ("read",), []),
]


@pytest.mark.req("B-33")
@pytest.mark.fault("F71")
@pytest.mark.parametrize(("role", "scopes", "left"), LEFT)
def test_a_token_may_what_both_its_scopes_and_the_role_allow(
    role: str, scopes: tuple[str, ...], left: list[str]
) -> None:
    assert in_order(effective(role, scopes)) == left


@pytest.mark.fault("F71")
def test_no_scopes_widen_a_role_nor_a_role_the_scopes() -> None:
    for role in ROLES:
        for number in range(len(ALL_SCOPES) + 1):
            for scopes in itertools.combinations(sorted(ALL_SCOPES), number):
                assert effective(role, scopes) <= SCOPES_OF[role]
                assert effective(role, scopes) <= set(scopes)


@pytest.mark.req("B-33")
def test_each_role_may_all_that_the_one_before_it_may() -> None:
    for lesser, greater in itertools.pairwise(ROLES):
        assert SCOPES_OF[lesser] < SCOPES_OF[greater]
    assert [least_role(scope) for scope in in_order(ALL_SCOPES)] == [
        "viewer",
        "operator",
        "operator",
        "admin",
    ]


def test_a_refusal_names_the_role_or_the_scope_that_is_missing() -> None:
    viewer = Principal("ana", "viewer", SCOPES_OF["viewer"])
    with pytest.raises(NotAllowed, match="needs the role operator; ana is viewer") as by_role:
        require(viewer, "approve", "answering")
    assert by_role.value.code == "role_needed"
    reader = Principal("ida", "admin", frozenset(("read",)))
    with pytest.raises(NotAllowed, match="the scope admin; this one has read") as by_scope:
        require(reader, "admin", "GET /v1/users")
    assert by_scope.value.code == "scope_needed"
    require(reader, "read", "looking")
