"""The door's own look at a path: never another route than the router takes."""

import pytest

from redshank_console.api.routing import Place, Routing

ROUTING = Routing(
    (
        Place("GET", "/", "open"),
        Place("GET", "/v1/things", "read"),
        Place("POST", "/v1/things", "operate"),
        Place("GET", "/v1/things/{id}", "read"),
        Place("GET", "/v1/things/keys", "admin"),
        Place("DELETE", "/v1/things/{id}", "admin"),
        Place("POST", "/v1/things/{id}/acts/{act}", "operate"),
        Place("GET", "/{a}/{b}/{c}/{d}", "operate"),
        Place("GET", "/{a}", "read"),
    )
)


@pytest.mark.parametrize(
    ("method", "path", "found"),
    [
        ("GET", "/", "/"),
        ("GET", "/v1/things", "/v1/things"),
        ("GET", "/v1/things/7", "/v1/things/{id}"),
        ("POST", "/v1/things/7/acts/go", "/v1/things/{id}/acts/{act}"),
        ("GET", "/elsewhere", "/{a}"),
        ("GET", "/v1/any/thing/else", "/{a}/{b}/{c}/{d}"),
        ("GET", "/v1/things/", None),
        ("GET", "/v1/things\n", None),
        ("GET", "/v1/things/7/", None),
        ("GET", "/v1/{}", None),
        ("GET", "//v1/things", None),
        ("GET", "/v1/Things", None),
        ("GET", "", None),
        ("PUT", "/v1/things", None),
        ("HEAD", "/v1/things", None),
    ],
)
def test_a_path_is_one_route_or_none(method: str, path: str, found: str | None) -> None:
    place = ROUTING.find(method, path)
    assert (None if place is None else place.path) == found


@pytest.mark.fault("F71")
def test_where_two_routes_fit_the_one_that_needs_most_decides() -> None:
    place = ROUTING.find("GET", "/v1/things/keys")
    assert place is not None
    assert place.need == "admin"


def test_the_methods_of_a_path_are_known_for_the_answer() -> None:
    assert ROUTING.methods("/v1/things") == ["GET", "POST"]
    assert ROUTING.methods("/v1/things/7") == ["DELETE", "GET"]
    assert ROUTING.methods("/v1/nothing") == []
