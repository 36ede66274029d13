"""The ledger of outside effects: what is recorded, how it is chained, what a check finds."""

import hashlib
import json
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from redshank_shared.domain.errors import Invalid, Misconfigured
from redshank_shared.domain.events import Effect, decode, encode, kind_of
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.plan import number
from redshank_shared.domain.workstream import fold
from redshank_shared.ledger.lines import Key, Line, Logged, Whole, decoded, encoded
from redshank_shared.ledger.record import EffectRecord, canonical, genesis, hash_of, parsed
from redshank_shared.ledger.signing import (
    has_signed,
    key_of_process,
    make_key_file,
    new_key,
    read_key,
)
from redshank_shared.ledger.verifying import verify
from tests.unit.ledger_building import (
    AT,
    WS,
    Log,
    exported,
    finished,
    interrupted,
    put,
    records,
    seals,
    without,
)

OTHER = "ws_0000000000000000000002"


def wrongs(lines: list[Line]) -> list[tuple[int, str]]:
    return [(finding.position, finding.wrong) for finding in verify(lines).findings]


def a_log(calls: int = 3, workstream: str = WS) -> Log:
    log = Log(new_key(), workstream)
    for turn in range(1, calls + 1):
        log.run(f"cl_{turn}")
    return log


@pytest.mark.req("K-7")
@pytest.mark.parametrize(
    ("effect", "recorded"),
    [
        ("process", True),
        ("network", True),
        ("mcp", True),
        ("deliver", True),
        ("read", False),
        ("write", False),
        ("human", False),
        ("state", False),
    ],
)
def test_calls_with_an_outside_effect_get_a_record_others_none(
    effect: Effect, recorded: bool
) -> None:
    log = Log(new_key())
    log.run("cl_1", effect)
    assert bool(seals(log.facts)) is recorded


@pytest.mark.req("K-7")
def test_a_record_says_what_was_asked_what_came_back_where_it_stands_in_the_log() -> None:
    log = a_log(1)
    (seal,) = seals(log.facts)
    assert json.loads(seal.record) == {
        "workstream": WS,
        "position": 1,
        "call_id": "cl_1",
        "tool": "do_process",
        "effect": "process",
        "started_seq": 4,
        "finished_seq": 5,
        "node": "marsh-1",
        "request_digest": "sha256:of cl_1",
        "response_digest": "sha256:" + hashlib.sha256(b"cl_1 is done").hexdigest(),
        "outcome": "ok",
        "at": AT,
        "previous_hash": genesis(WS),
    }


@pytest.mark.req("B-8")
def test_a_record_is_hashed_in_its_canonical_form_then_signed() -> None:
    log = a_log(1)
    (seal,) = seals(log.facts)
    same = json.dumps(json.loads(seal.record), sort_keys=True, separators=(",", ":"))
    assert seal.record == same
    assert seal.hash == hashlib.sha256(seal.record.encode()).hexdigest()
    assert has_signed(log.key.public_key, seal.record, seal.signature)
    assert not has_signed(log.key.public_key, seal.record + " ", seal.signature)
    assert not has_signed(new_key().public_key, seal.record, seal.signature)


@pytest.mark.req("B-8")
def test_each_record_follows_the_one_before_it_whichever_node_goes_on() -> None:
    log = a_log(2)
    log.key = new_key()
    log.run("cl_3")
    found = seals(log.facts)
    kept = [parsed(seal.record) for seal in found]
    assert [record.position for record in kept if record] == [1, 2, 3]
    assert [record.previous_hash for record in kept if record] == [
        genesis(WS),
        found[0].hash,
        found[1].hash,
    ]
    assert log.state.ledger.position == 3


@pytest.mark.req("K-7")
def test_an_interrupted_effect_is_recorded_with_an_unknown_outcome() -> None:
    log = Log(new_key())
    log.begin({"cl_1": "process", "cl_2": "read", "cl_3": "mcp"})
    log.append(interrupted("cl_1"), interrupted("cl_2", "read"), interrupted("cl_3", "mcp"))
    kept = [parsed(seal.record) for seal in seals(log.facts)]
    assert [(r.position, r.call_id, r.outcome) for r in kept if r] == [
        (1, "cl_1", "unknown"),
        (2, "cl_3", "unknown"),
    ]
    assert wrongs(exported(log)) == []


def test_the_end_of_the_chain_is_what_the_log_says_it_is() -> None:
    log = a_log(2)
    again = [decode(kind_of(fact), encode(fact)) for fact in log.facts]
    state = fold(WorkstreamId(WS), number(0, AT, again))
    assert state.ledger == log.state.ledger
    assert state.ledger.hash == seals(log.facts)[-1].hash


def test_a_result_that_ends_nothing_that_was_started_gets_no_record() -> None:
    log = a_log(1)
    log.append(finished("cl_1"), finished("cl_unknown"))
    assert len(seals(log.facts)) == 1


@pytest.mark.req("B-8")
def test_a_whole_ledger_has_nothing_wrong() -> None:
    report = verify(exported(a_log(), a_log(2, OTHER)))
    assert report.is_whole
    assert (report.workstreams, report.records, report.before) == (2, 5, 0)


@pytest.mark.req("B-8")
def test_a_changed_record_is_found() -> None:
    lines = exported(a_log())
    second = records(lines)[1]
    said = second.record.replace('"ok"', '"error"')
    assert wrongs(put(lines, second, record=said)) == [(2, "changed")]
    assert wrongs(put(lines, second, record=said, record_hash=hash_of(said))) == [(2, "changed")]
    assert wrongs(put(lines, second, record="nothing")) == [(2, "changed")]
    assert wrongs(put(lines, second, signature="")) == [(2, "changed")]
    assert wrongs(put(lines, second, call_id="cl_9")) == [(2, "changed")]


@pytest.mark.req("B-8")
def test_a_record_signed_anew_by_a_key_that_counts_breaks_the_chain() -> None:
    log = a_log()
    lines = exported(log)
    second = records(lines)[1]
    record = parsed(second.record)
    assert record is not None
    said = canonical(msgspec.structs.replace(record, outcome="error"))
    forged = put(
        lines, second, record=said, record_hash=hash_of(said), signature=log.key.sign(said)
    )
    assert (3, "changed") in wrongs(forged)
    assert (2, "changed") in wrongs(forged)


@pytest.mark.req("B-8")
@pytest.mark.parametrize(("position", "said"), [(1, 1), (2, 2), (3, 3)])
def test_a_missing_record_is_found_at_the_beginning_within_at_the_end(
    position: int, said: int
) -> None:
    lines = exported(a_log())
    gone = records(lines)[position - 1]
    assert wrongs(without(lines, gone)) == [(said, "missing")]


@pytest.mark.req("B-8")
def test_a_ledger_that_was_emptied_is_found_by_what_the_log_says() -> None:
    lines = exported(a_log())
    assert wrongs(without(lines, *records(lines))) == [
        (1, "missing"),
        (2, "missing"),
        (3, "missing"),
    ]


@pytest.mark.req("B-8")
def test_a_call_whose_record_was_taken_out_of_log_and_ledger_is_found() -> None:
    lines = exported(a_log())
    last = records(lines)[-1]
    logged = [line for line in lines if isinstance(line, Logged)][-1]
    tampered = put(without(lines, last), logged, position=0, record_hash="")
    (finding,) = verify(tampered).findings
    assert (finding.position, finding.wrong) == (0, "missing")
    assert "cl_3" in finding.reason


@pytest.mark.req("B-8")
def test_reordered_records_are_found() -> None:
    lines = exported(a_log())
    first, second, _ = records(lines)
    swapped = put(put(lines, first, position=2), second, position=1)
    assert [wrong for _, wrong in wrongs(swapped)] == ["reordered", "reordered"]
    turned = list(lines)
    one, two = turned.index(first), turned.index(second)
    turned[one], turned[two] = second, first
    assert "reordered" in [wrong for _, wrong in wrongs(turned)]


@pytest.mark.req("B-8")
def test_a_record_of_another_workstream_is_foreign() -> None:
    ours, theirs = a_log(), a_log(3, OTHER)
    theirs.key = ours.key
    lines, others = exported(ours), exported(theirs)
    second, stranger = records(lines)[1], records(others)[1]
    lines = [Key(theirs.key.key_id, theirs.key.public_key, AT), *lines[:-1]]
    tampered = put(
        [*lines, Whole(len(lines))],
        second,
        record=stranger.record,
        record_hash=stranger.record_hash,
        key_id=stranger.key_id,
        signature=stranger.signature,
    )
    assert wrongs(tampered)[0] == (2, "foreign")


@pytest.mark.req("B-8")
def test_a_record_of_an_unknown_key_is_foreign() -> None:
    log = a_log(1)
    log.key = new_key()
    log.run("cl_2")
    lines = exported(log)
    assert wrongs(lines) == [(1, "foreign")]


@pytest.mark.req("B-8")
def test_only_keys_that_are_trusted_count_where_some_are_named() -> None:
    log = a_log(2)
    lines = exported(log)
    assert verify(lines, frozenset((log.key.key_id,))).is_whole
    report = verify(lines, frozenset(("0123456789abcdef",)))
    assert [finding.wrong for finding in report.findings] == ["foreign", "foreign"]


def test_a_key_under_the_id_of_another_does_not_count() -> None:
    log = a_log(1)
    lines = exported(log)
    assert wrongs(put(lines, lines[0], public_key=new_key().public_key)) == [(1, "foreign")]


@pytest.mark.req("B-8")
def test_a_record_of_a_call_that_the_log_does_not_know_is_foreign() -> None:
    lines = exported(a_log())
    logged = [line for line in lines if isinstance(line, Logged)][1]
    assert wrongs(without(lines, logged)) == [(2, "foreign")]


@pytest.mark.req("B-8")
def test_the_last_record_cannot_be_dropped_by_letting_its_call_name_the_one_before() -> None:
    log = Log(new_key())
    for call_id in ("cl_1", "cl_2"):
        log.begin({call_id: "process"})
        log.append(interrupted(call_id))
    lines = exported(log)
    first, last = records(lines)
    _, logged = (line for line in lines if isinstance(line, Logged))
    named = {"position": first.position, "record_hash": first.record_hash}
    (finding,) = verify(put(without(lines, last), logged, **named)).findings
    assert (finding.position, finding.wrong) == (1, "changed")
    assert "cl_2" in finding.reason
    assert "cl_1" in finding.reason


@pytest.mark.req("B-8")
@pytest.mark.parametrize("changes", [{"call_id": "cl_9"}, {"seq": 99}])
def test_a_call_that_the_log_tells_otherwise_is_found(changes: dict[str, object]) -> None:
    lines = exported(a_log())
    logged = [line for line in lines if isinstance(line, Logged)][1]
    assert wrongs(put(lines, logged, **changes)) == [(2, "changed")]


@pytest.mark.req("B-8")
def test_an_output_that_was_changed_in_the_log_is_found() -> None:
    lines = exported(a_log())
    logged = [line for line in lines if isinstance(line, Logged)][1]
    assert wrongs(put(lines, logged, response_digest="sha256:0")) == [(2, "changed")]


def test_calls_from_before_the_first_key_have_no_record() -> None:
    lines = exported(a_log(1))
    logged = next(line for line in lines if isinstance(line, Logged))
    signed = records(lines)[0]
    older = put(
        without(lines, signed), logged, position=0, record_hash="", at="2026-11-01T00:00:00.000Z"
    )
    report = verify(older)
    assert (report.is_whole, report.before) == (True, 1)


def test_an_export_that_was_cut_off_is_refused() -> None:
    lines = exported(a_log())
    with pytest.raises(Invalid, match="not whole"):
        verify(lines[:-1])
    with pytest.raises(Invalid, match="not whole"):
        verify([*lines[:2], *lines[3:]])
    with pytest.raises(Invalid, match="goes on"):
        verify([*lines, lines[0]])


def test_an_export_is_read_as_it_was_written_and_its_bad_line_is_named() -> None:
    lines = exported(a_log())
    text = b"".join(map(encoded, lines))
    assert list(decoded(text.splitlines())) == lines
    with pytest.raises(Invalid, match="line 2"):
        list(decoded([encoded(lines[0]), b'{"kind":"tide"}']))


def test_a_text_that_is_not_canonical_is_no_record() -> None:
    record = EffectRecord(WS, 1, "c", "bash", "process", 1, 2, "n", "r", "s", "ok", AT, genesis(WS))
    text = canonical(record)
    assert parsed(text) == record
    assert parsed(text.replace(":", ": ", 1)) is None
    assert parsed(text[:-1] + ',"more":1}') is None
    assert genesis(WS) != genesis(OTHER)


def test_a_key_file_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.key"
    make_key_file(path)
    first = read_key(path)
    make_key_file(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_key(path).key_id == first.key_id == key_of_process(str(path)).key_id
    assert len(first.key_id) == 16
    assert key_of_process("").key_id != key_of_process("").key_id


def test_a_key_file_that_cannot_be_used_is_named_with_the_mend(tmp_path: Path) -> None:
    path = tmp_path / "ledger.key"
    with pytest.raises(Misconfigured, match="openssl genpkey"):
        read_key(path)
    make_key_file(path)
    path.chmod(0o644)
    with pytest.raises(Misconfigured, match="chmod 600") as refusal:
        read_key(path)
    assert refusal.value.field == "ledger.key_file"
    path.chmod(0o600)
    path.write_text("no key")
    with pytest.raises(Misconfigured, match="PEM"):
        read_key(path)
    other = generate_private_key(SECP256R1())
    path.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    with pytest.raises(Misconfigured, match="Ed25519"):
        read_key(path)
    with pytest.raises(Misconfigured, match="cannot be written"):
        make_key_file(tmp_path / "none" / "ledger.key")
