"""Whatever is done to a ledger's records by who has no key, a check finds it."""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redshank_shared.domain.events import Effect
from redshank_shared.ledger.lines import Line, Signed
from redshank_shared.ledger.record import hash_of, parsed
from redshank_shared.ledger.signing import new_key
from redshank_shared.ledger.verifying import verify
from tests.unit.ledger_building import Log, exported, finished, interrupted, put, records, without

OUTSIDE: tuple[Effect, ...] = ("process", "network", "mcp", "deliver")
EFFECTS: tuple[Effect, ...] = (*OUTSIDE, "read", "write", "state")
KEYS = (new_key(), new_key())
NAMES = ("ws_0000000000000000000001", "ws_0000000000000000000002")

# A turn: the effects of its calls, each with whether it ended or its node died, and which node.
turns = st.lists(
    st.tuples(
        st.lists(st.tuples(st.sampled_from(EFFECTS), st.booleans()), min_size=1, max_size=4),
        st.sampled_from(KEYS),
    ),
    max_size=5,
)


def written(workstream: str, story: list[tuple[list[tuple[Effect, bool]], object]]) -> Log:
    log = Log(KEYS[0], workstream)
    for turn, (calls, key) in enumerate(story):
        log.key = key  # type: ignore[assignment]  # one of KEYS
        named = {f"cl_{turn}_{number}": call for number, call in enumerate(calls)}
        log.begin({call_id: effect for call_id, (effect, _) in named.items()})
        log.append(
            *(
                finished(call_id, effect) if ended else interrupted(call_id, effect)
                for call_id, (effect, ended) in named.items()
            )
        )
    log.key = KEYS[0]
    log.run("cl_last")
    return log


def with_both_keys(*logs: Log) -> list[Line]:
    """The export of these, both nodes' keys known."""
    other = Log(KEYS[1], "ws_0000000000000000000000")
    other.run("cl_other")
    return exported(*logs, other)


@given(turns, turns)
@settings(max_examples=60, deadline=None)
@pytest.mark.req("B-8", "K-7")
def test_every_outside_effect_has_its_record_whatever_happened(
    first: list[tuple[list[tuple[Effect, bool]], object]],
    second: list[tuple[list[tuple[Effect, bool]], object]],
) -> None:
    report = verify(with_both_keys(written(NAMES[0], first), written(NAMES[1], second)))
    began = [effect for story in (first, second) for calls, _ in story for effect, _ in calls]
    # The last call of each, and the one of the other node's own workstream.
    assert report.records == sum(effect in OUTSIDE for effect in began) + 3
    assert report.findings == ()


def deleted(lines: list[Line], one: Signed, _: Signed) -> list[Line]:
    return without(lines, one)


def put_in_the_place_of(lines: list[Line], one: Signed, other: Signed) -> list[Line]:
    return put(lines, one, **{**msgspec.structs.asdict(other), "position": one.position})


def moved_to_another_workstream(lines: list[Line], one: Signed, _: Signed) -> list[Line]:
    target = next(name for name in NAMES if name != one.workstream)
    return put(lines, one, workstream=target)


def renumbered(lines: list[Line], one: Signed, _: Signed) -> list[Line]:
    return put(lines, one, position=one.position + 100)


def rewritten(lines: list[Line], one: Signed, _: Signed) -> list[Line]:
    record = parsed(one.record)
    assert record is not None
    said = one.record.replace(f'"outcome":"{record.outcome}"', '"outcome":"other"')
    return put(lines, one, record=said, record_hash=hash_of(said))


def signed_by_a_stranger(lines: list[Line], one: Signed, _: Signed) -> list[Line]:
    stranger = new_key()
    return put(lines, one, key_id=stranger.key_id, signature=stranger.sign(one.record))


def given_the_name_of_the_other_key(lines: list[Line], one: Signed, _: Signed) -> list[Line]:
    other = next(key for key in KEYS if key.key_id != one.key_id)
    return put(lines, one, key_id=other.key_id)


@pytest.mark.req("B-8")
@pytest.mark.parametrize(
    "tamper",
    [
        deleted,
        put_in_the_place_of,
        moved_to_another_workstream,
        renumbered,
        rewritten,
        signed_by_a_stranger,
        given_the_name_of_the_other_key,
    ],
)
@given(turns, turns, st.data())
@settings(max_examples=40, deadline=None)
def test_no_change_goes_unseen(
    tamper: Callable[[list[Line], Signed, Signed], list[Line]],
    first: list[tuple[list[tuple[Effect, bool]], object]],
    second: list[tuple[list[tuple[Effect, bool]], object]],
    data: st.DataObject,
) -> None:
    lines = with_both_keys(written(NAMES[0], first), written(NAMES[1], second))
    ours = [each for each in records(lines) if each.workstream in NAMES]
    one = data.draw(st.sampled_from(ours))
    other = data.draw(st.sampled_from([each for each in ours if each != one]))
    assert not verify(tamper(lines, one, other)).is_whole
