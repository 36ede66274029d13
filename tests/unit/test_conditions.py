"""A watch's condition answers, fails or is refused, whatever it is made of."""

import json
import time

import pytest

from redshank_shared.domain.conditions import Condition, ConditionFailed
from redshank_shared.domain.errors import Invalid

_LONG = "ab" * 32_768
_ZEROS = json.dumps([0] * 20_000)
_TWINS = json.dumps([[0] * 9_000, [0] * 9_000] + [1] * 1_000)
_DEEP = "[" * 900 + "]" * 900


def _met(
    text: str | None, output: str = "", exit_code: int = 0, prev_output: str | None = None
) -> bool:
    return Condition.parse(text).met(output, exit_code, prev_output)


@pytest.mark.req("T-51")
@pytest.mark.parametrize(
    ("text", "output", "exit_code", "prev_output"),
    [
        ('data["state"] == "MERGED"', '{"state": "MERGED"}', 0, None),
        ('"error" in output', "an error", 0, None),
        ("exit_code != 0", "", 3, None),
        ('changed and "ready" in output.lower()', "READY", 0, "no"),
        ('data.get("mergedAt") is not None', '{"mergedAt": "now"}', 0, None),
    ],
)
def test_the_five_examples_of_the_seed_evaluate(
    text: str, output: str, exit_code: int, prev_output: str | None
) -> None:
    assert _met(text, output, exit_code, prev_output) is True


@pytest.mark.req("T-51", "O26")
def test_without_an_expression_a_change_of_the_output_fires() -> None:
    assert _met(None, "a") is False
    assert _met(None, "a", prev_output="a") is False
    assert _met(None, "b", prev_output="a") is True


@pytest.mark.req("T-51")
def test_one_condition_answers_poll_after_poll() -> None:
    condition = Condition.parse('any(line == "x" for line in output.splitlines())')

    assert condition.met("a\nx\n", 0, None) is True
    assert condition.met("a\n", 0, "a\nx\n") is False


@pytest.mark.req("T-51")
@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("isinstance(data, list) and isinstance(data[0], (int, str))", "[1]"),
        ("exit_code in {0, 2} and exit_code not in (1, 3)", ""),
        ('[k for k, v in data.items() if v > 1] == ["b"]', '{"a": 1, "b": 2}'),
        ("max(int(n) for n in output.split()) - min([3, 4]) == 6", "9 4"),
        ("sorted(data, reverse=True)[0] == max(data, default=0)", "[1, 3, 2]"),
        ("max([], default=0) == 0", ""),
        ('", ".join(x for x in data) == "a, b"', '["a", "b"]'),
        ('output.replace("b", "c", 1) == "acb"', "abb"),
        ("(1 if data else 2) == 2 and 7 // 2 % 2 == 1 and -1 < 0 < 1.5 * 2", "{}"),
        ('output.partition("=")[2].strip().removeprefix("v") == "1"', "a = v1"),
        ("prev_output is None and changed is False", ""),
        ("  exit_code == 0  ", ""),
    ],
)
def test_what_the_documents_allow_has_its_python_meaning(text: str, output: str) -> None:
    assert _met(text, output) is True


@pytest.mark.req("T-51")
@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("exit_code ==", 13),
        ("exit_code == ==", 14),
        ("  exit_code = 1", 13),
        ('"é" == status', 8),
        ("output and output.__class__", 19),
        ("output.nope()", 8),
        ("(1,\n  status)", 3),
    ],
)
def test_a_refusal_names_the_column_to_blame(text: str, column: int) -> None:
    with pytest.raises(Invalid, match=rf"column {column}:") as refusal:
        Condition.parse(text)

    assert refusal.value.field == "stop_on"


@pytest.mark.req("T-51")
def test_an_unknown_name_is_answered_with_the_five_variables() -> None:
    with pytest.raises(Invalid, match="output, data, exit_code, prev_output, changed"):
        Condition.parse("stdout == 1")


@pytest.mark.req("T-51")
@pytest.mark.parametrize(
    ("text", "output", "says"),
    [
        ('data["a"]', "no json", "data is None"),
        ('data.get("a")', "no json", "None has no get"),
        ('data["nope"]', "{}", "no key 'nope'"),
        ("data[3]", "[]", "out of range"),
        ("data < 3", '"3"', "number"),
        ("data - 1", '"3"', "- is only for numbers"),
        ("int(output)", "x", "invalid literal"),
        ("sorted(data)", '[1, "a"]', "only numbers or only texts"),
        ("float(output)", "9" * 5_000, "5000 characters"),
        ('"a" in exit_code', "", "members"),
        ("data in {1}", "[]", "unhashable"),
        ("int(data)", "1e999", "infinity"),
    ],
)
def test_an_expression_without_a_value_for_this_output_fails_and_says_why(
    text: str, output: str, says: str
) -> None:
    with pytest.raises(ConditionFailed) as failure:
        _met(text, output)

    assert says in failure.value.detail
    assert failure.value.field == "stop_on"


@pytest.mark.fault("F36")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "# only a comment",
        "1; 2",
        "1) or (2",
        "\x00",
        "\ud800",
        "import os",
        "__import__('os')",
        "eval('1')",
        "exec('1')",
        "globals()",
        "print(1)",
        "len",
        "str.join('a', 'b')",
        "isinstance(1, type)",
        "output.encode()",
        "output.format(1)",
        "output.format_map(data)",
        "output.translate(data)",
        "output.center(9)",
        "output.expandtabs(9)",
        "output.__len__()",
        "data.pop('a')",
        "data.setdefault('a', 1)",
        "data.get.__self__",
        "[x for x in data][0].real",
        "len(*output)",
        "len(**data)",
        "min(data, key=len)",
        "(x for x in data)",
        "[x async for x in data]",
        "[(x := 1) for y in data]",
        "[x for x.a in data]",
        "[len for len in data]",
        "{x for x in data}",
        "{x: 1 for x in data}",
        "{'a': 1}",
        "await x",
        "(yield)",
        "b'a'",
        "1j",
        "...",
        "~1",
        "1 | 2",
        "1 @ 2",
        "exit_code is 0",
        "9" * 1_000,
        "0x" + "f" * 1_000,
        "(" * 300 + "1" + ")" * 300,
        "[" * 190,
        "not " * 400 + "1",
        "1+" * 900 + "1",
        "f'{" * 100,
        "x" * 3_000,
    ],
    ids=lambda text: repr(text[:24]),
)
def test_what_no_condition_may_be_is_refused_when_the_watch_is_made(text: str) -> None:
    # The best of three, by the time that this thread had the processor.
    took = []
    for _ in range(3):
        began = time.thread_time()
        with pytest.raises(Invalid) as refusal:
            Condition.parse(text)
        took.append(time.thread_time() - began)

    assert min(took) < 0.1
    assert refusal.value.field == "stop_on"


@pytest.mark.fault("F36")
@pytest.mark.parametrize(
    ("text", "output", "prev_output"),
    [
        ("output * 1000000", "a", None),
        ("data * 1000000", "[1]", None),
        ("output % 1", "%99999999d", None),
        ("exit_code % output", "%9d", None),
        ("[output.split() for c in output]", "a " * 32_768, None),
        ("[output.lower() for c in output]", _LONG, None),
        ("[output.upper() for c in output]", "\u0390" * 65_536, None),
        ("[output.count('ab') for c in output]", _LONG, None),
        ("[output.find(prev_output) for c in output]", "a" * 29_000, "a" * 50 + "b" + "a" * 48),
        ("output.strip(prev_output)", "a" * 65_536, "b" * 65_535 + "a"),
        ("[output == prev_output for c in output]", "a" * 65_536, "a" * 65_535 + "b"),
        ("[data[0] == data[1] for x in data]", _TWINS, None),
        ("[data[0] for x in data] == [data[1] for x in data]", _TWINS, None),
        ("[[data[1]] in data for x in data]", _TWINS, None),
        ("str([data for x in data])", _TWINS, None),
        ("[data[0:] for x in data]", _ZEROS, None),
        ("[x for x in data if x in [y for y in data]]", _ZEROS, None),
        ("all(x == y for x in data for y in data)", _ZEROS, None),
        ("output.join(output)", _LONG, None),
        ("output.replace('a', output)", _LONG, None),
        ("output + output + output + output + output", _LONG, None),
        ("[max(output.splitlines()) for c in output]", "\n" * 65_536, None),
        ("[float(output[:4000]) for c in output]", "9" * 65_536, None),
        ("data == [data]", _DEEP, None),
        ("str(data)", _DEEP, None),
        ("data * 2", "9" * 4_000, None),
        ("str(data)", "9" * 4_000, None),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_bomb_that_only_the_output_arms_is_refused_at_the_poll(
    text: str, output: str, prev_output: str | None
) -> None:
    condition = Condition.parse(text)
    # The best of three, by the time that this thread had the processor.
    took = []
    for _ in range(3):
        began = time.thread_time()
        with pytest.raises(Invalid) as refusal:
            condition.met(output, 0, prev_output)
        took.append(time.thread_time() - began)

    assert refusal.value.field == "stop_on"
    assert min(took) < 0.1


@pytest.mark.req("T-51")
@pytest.mark.parametrize("output", ["[" * 60_000, '{"a":' * 10_000, "9" * 5_000, "{", "\ud800"])
def test_an_output_that_is_no_json_gives_no_data_whatever_it_is(output: str) -> None:
    assert _met("data is None", output) is True


@pytest.mark.req("T-54")
def test_an_output_counts_up_to_64_kib() -> None:
    assert _met("len(output) == 65536", "a" * 100_000) is True
