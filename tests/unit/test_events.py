"""Facts survive the log whatever they hold, newer kinds are carried as they came."""

import json
import re
import types
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redshank_shared.domain.events import (
    ApprovalResolved,
    CallFinished,
    KnownFact,
    MessageAnswered,
    MessagePosted,
    Recorded,
    StateChanged,
    Unknown,
    WaitFor,
    decode,
    encode,
    encode_recorded,
    kind_of,
)
from redshank_shared.domain.fact import Fact
from tests.unit.log_builders import AT, folded, posted, then

KINDS: tuple[type[Fact], ...] = get_args(KnownFact)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    float: st.floats(allow_nan=False, allow_infinity=False),
    type(None): st.none(),
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def _values(kind: type[msgspec.Struct], only_required: bool = False) -> st.SearchStrategy[Any]:
    fields = {
        field.name: _value(field.type)
        for field in msgspec.structs.fields(kind)
        if field.required or not only_required
    }
    return st.builds(kind, **fields)


def _value(kind: Any) -> st.SearchStrategy[Any]:
    if kind in PLAIN:
        return PLAIN[kind]
    if isinstance(kind, types.UnionType):
        return st.one_of([_value(part) for part in get_args(kind)])
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _values(kind)
    if getattr(kind, "__origin__", None) is tuple:
        return st.lists(_value(get_args(kind)[0]), max_size=3).map(tuple)
    return st.from_type(kind)


@pytest.mark.parametrize("kind", KINDS, ids=kind_of)
def test_what_is_encoded_is_decoded_as_it_was(kind: type[Fact]) -> None:
    @settings(max_examples=25, deadline=None, database=None)
    @given(_values(kind))
    def check(fact: Any) -> None:
        assert decode(kind_of(fact), encode(fact)) == fact

    check()


@pytest.mark.parametrize("kind", KINDS, ids=kind_of)
def test_a_fact_that_lacks_its_optional_fields_is_read_with_their_defaults(
    kind: type[Fact],
) -> None:
    required = {field.name for field in msgspec.structs.fields(kind) if field.required}

    @settings(max_examples=10, deadline=None, database=None)
    @given(_values(kind, only_required=True))
    def check(fact: Any) -> None:
        written = msgspec.json.decode(encode(fact), type=dict[str, Any])
        bare = {key: value for key, value in written.items() if key in required}
        assert decode(kind_of(fact), msgspec.json.encode(bare).decode()) == fact

    check()


def test_every_kind_has_its_own_name_in_dotted_lower_case() -> None:
    names = [kind_of(kind) for kind in KINDS]  # type: ignore[arg-type]

    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+(\.[a-z]+)?", name) for name in names)


def test_a_client_finds_the_kinds_of_the_public_contract() -> None:
    names = {kind_of(kind) for kind in KINDS}  # type: ignore[arg-type]

    assert names >= {
        "message.user",
        "message.assistant",
        "call.decided",
        "approval.requested",
        "approval.resolved",
        "call.started",
        "call.finished",
        "state",
        "usage",
    }


@settings(max_examples=60, deadline=None, database=None)
@given(st.dictionaries(TEXT.filter(lambda key: key != "kind"), JSON, max_size=4))
def test_a_fact_of_a_newer_version_is_carried_as_it_came(data: dict[str, Any]) -> None:
    text = msgspec.json.encode({"kind": "garden.watered", **data}).decode()

    fact = decode("garden.watered", text)

    assert fact == Unknown("garden.watered", data)
    assert kind_of(fact) == "garden.watered"
    assert msgspec.json.decode(encode(fact)) == msgspec.json.decode(text)


def test_a_field_of_a_newer_version_is_passed_over() -> None:
    fact = decode("message.user", '{"kind":"message.user","text":"hello","mood":"glad"}')

    assert fact == MessagePosted("hello")


def test_an_unknown_fact_moves_the_version_of_a_state_only() -> None:
    before = folded(posted())

    after = then(before, Unknown("garden.watered", {"litres": 3}))

    assert after == msgspec.structs.replace(before, version=before.version + 1)


@pytest.mark.fault("F43")
@pytest.mark.parametrize(
    "output",
    ["a\0b", "\x1b[2J", "snow ☃ and 😀", "x" * 50_000_000],
    ids=["NUL", "control", "astral", "50 MB"],
)
def test_output_with_odd_characters_or_of_great_length_is_stored_and_read_back(
    output: str,
) -> None:
    fact = CallFinished("call_1", "bash", False, output, "ok")

    text = encode(fact)

    assert "\0" not in text
    assert decode("call.finished", text) == fact


def test_a_stream_s_data_is_sequence_number_time_and_the_fields() -> None:
    fact = StateChanged("waiting", (WaitFor("approval", AT, "bash ls"),))

    data = msgspec.json.decode(encode_recorded(Recorded(7, AT, fact)))

    assert data == {
        "seq": 7,
        "at": AT,
        "kind": "state",
        "state": "waiting",
        "waiting_for": [{"kind": "approval", "since": AT, "detail": "bash ls"}],
        "detail": "",
    }


def test_a_stream_s_data_of_an_unknown_fact_holds_what_it_held() -> None:
    data = msgspec.json.decode(encode_recorded(Recorded(7, AT, Unknown("garden.watered", {}))))

    assert data == {"seq": 7, "at": AT, "kind": "garden.watered"}


@pytest.mark.parametrize(
    "fact", [MessagePosted("hello"), MessageAnswered(), ApprovalResolved("a", "c", "allow", "ada")]
)
def test_a_fact_is_never_changed(fact: Any) -> None:
    with pytest.raises(AttributeError, match="immutable"):
        fact.text = "something else"


def test_a_known_kind_with_a_word_of_a_newer_version_is_carried_unchanged() -> None:
    text = '{"kind":"message.user","text":"hi","source":"carrier-pigeon"}'
    fact = decode("message.user", text)
    assert isinstance(fact, Unknown)
    assert json.loads(encode(fact)) == json.loads(text)
