"""Values to JSON and back: exactly there, strictly back."""

from __future__ import annotations

import base64
import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshardctl.codec import values
from reshardctl.codec.strict import JsonPath, moment, or_another_kind, parse, seconds, strings
from reshardctl.errors import UsageError
from reshardctl.model import (
    DONE,
    START,
    TIP,
    Create,
    Cut,
    Delete,
    Image,
    Rank,
    Step,
    Update,
    Write,
    at_number,
    at_time,
    canonical,
    files,
)
from reshardctl.model.cuts import PARTS
from tests.contracts.medium_contract import EVERY_TYPE, row

NAMES = st.text(min_size=1, max_size=12)
NUMBERS = st.one_of(
    st.integers().map(str), st.decimals(allow_nan=False, allow_infinity=False).map(str)
)
BINARIES = st.binary(max_size=6).map(lambda raw: base64.b64encode(raw).decode())


def a_set(members: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(members, min_size=1, max_size=4, unique=True).map(sorted)


SCALARS = st.one_of(
    st.text().map(lambda body: {"S": body}),
    NUMBERS.map(lambda body: {"N": body}),
    BINARIES.map(lambda body: {"B": body}),
    st.booleans().map(lambda body: {"BOOL": body}),
    st.just({"NULL": True}),
    a_set(st.text()).map(lambda body: {"SS": body}),
    a_set(NUMBERS).map(lambda body: {"NS": body}),
    a_set(BINARIES).map(lambda body: {"BS": body}),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda body: {"L": body}),
        st.dictionaries(NAMES, inner, max_size=3).map(lambda body: {"M": body}),
    ),
    max_leaves=6,
)
ATTRIBUTES = st.dictionaries(NAMES, VALUES, max_size=5).map(canonical)
TEXTS = st.text(max_size=20)


@st.composite
def writes(draw: st.DrawFn) -> Write:
    key = draw(NAMES)
    change = draw(
        st.one_of(
            st.builds(Create, ATTRIBUTES),
            st.builds(
                Update,
                ATTRIBUTES,
                st.lists(NAMES, max_size=3).map(tuple),
                st.none() | st.dictionaries(NAMES, st.integers(), max_size=2),
            ),
            st.just(Delete()),
        )
    )
    before = None if isinstance(change, Create) else Image(key, draw(ATTRIBUTES))
    guard = tuple(draw(st.lists(NAMES, max_size=3)))
    return Write(key, change, before, draw(TEXTS), guard, draw(st.booleans()), draw(TEXTS))


STEPS = st.builds(Step, TEXTS, st.lists(writes(), max_size=3).map(tuple), TEXTS)
PLACE = JsonPath("plan.json")


@given(STEPS)
def test_a_step_comes_back_equal_and_has_one_text(step: Step) -> None:
    text = values.text(values.step_json(step))
    assert values.step(parse(text, PLACE), PLACE) == step
    assert text == values.text(json.loads(text))
    assert text.isascii() and "\n" not in text


@given(NAMES, ATTRIBUTES)
def test_an_image_comes_back_equal(key: str, attributes: Any) -> None:
    image = Image(key, attributes)
    assert values.image(parse(values.text(values.image_json(image)), PLACE), PLACE) == image


def test_no_addition_is_not_an_empty_addition() -> None:
    for add in (None, {}, {"n": 0}):
        write = Write("a", Update({}, (), add), row("a"), "why")
        assert values.write(values.write_json(write), PLACE).change == Update({}, (), add)


def test_a_digest_is_of_the_text() -> None:
    """SHA-256 of {"a":1} by sha256sum."""
    assert values.digest({"a": 1}) == (
        "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
    )


GOOD = values.step_json(
    Step(
        "a step",
        (
            Write(
                "a",
                Update({"x": {"S": "1"}}, ("y",), {"n": 1}),
                row("a", **EVERY_TYPE),
                "w",
                ("x",),
            ),
            Write("b", Create({"leaseKey": {"S": "b"}}), None, "w"),
        ),
    )
)


WRONG: list[tuple[tuple[Any, ...], Any, str]] = [
    ((), [], "not an object but a list"),
    (("title",), 7, "title: not a string but a number"),
    (("more",), 1, "unknown member 'more'"),
    (("barrier",), ..., "barrier missing"),
    (("writes",), {}, "writes: not a list but an object"),
    (("writes", 0, "live"), "no", r"writes\[0\].live: not true or false but a string"),
    (("writes", 0, "running"), 1, r"writes\[0\].running: not a string but a number"),
    (("writes", 0, "guard"), "x", "guard: not a list"),
    (("writes", 0, "guard", 0), None, r"guard\[0\]: not a string but null"),
    (("writes", 0, "before"), None, "before: only a row to create is absent before"),
    (("writes", 1, "before"), values.image_json(row("b")), "before: only a row to create"),
    (("writes", 0, "before", "key"), "z", "before.key: another row: 'z', the write is of 'a'"),
    (("writes", 0, "change"), {}, "change: not one of create, update, delete"),
    (("writes", 0, "change"), {"delete": {}, "create": {}}, "change: not one of create, update"),
    (("writes", 0, "change"), {"put": {}}, "'put' is not one of create, update, delete"),
    (("writes", 0, "change"), {"delete": {"x": 1}}, "delete: unknown member 'x'"),
    (("writes", 0, "change", "update", "add", "n"), "1", "add.n: not a whole number"),
    (("writes", 0, "change", "update", "add", "n"), True, "add.n: not a whole number"),
    (("writes", 0, "change", "update", "add"), [], "add: not an object"),
    (("writes", 0, "change", "update", "remove"), "y", "remove: not a list"),
    (("writes", 0, "change", "update", "set", "x"), "1", "set.x: not an attribute value"),
    (("writes", 0, "change", "update", "set", "x"), {"S": "1", "N": "1"}, "not an attribute"),
    (("writes", 0, "change", "update", "set", "x"), {}, "set.x: not an attribute value"),
    (("writes", 0, "change", "update", "set", "x"), {"X": "1"}, "set.x: unknown type 'X'"),
    (("writes", 0, "change", "update", "set", "x"), {"N": 1}, "x.N: not a string but a number"),
    (("writes", 0, "change", "update", "set", "x"), {"N": "0x1"}, "x.N: not a number: '0x1'"),
    (("writes", 0, "change", "update", "set", "x"), {"N": "NaN"}, "x.N: not a number"),
    (("writes", 0, "change", "update", "set", "x"), {"B": "?"}, "x.B: not base64"),
    (("writes", 0, "change", "update", "set", "x"), {"BOOL": 1}, "x.BOOL: not true or false"),
    (("writes", 0, "change", "update", "set", "x"), {"NULL": False}, "x.NULL: not true"),
    (("writes", 0, "change", "update", "set", "x"), {"SS": []}, "x.SS: a set has members"),
    (("writes", 0, "change", "update", "set", "x"), {"SS": ["a", "a"]}, "x.SS: a set has"),
    (("writes", 0, "change", "update", "set", "x"), {"NS": ["1", "b"]}, r"x.NS\[1\]: not a num"),
    (("writes", 0, "change", "update", "set", "x"), {"BS": [1]}, r"x.BS\[0\]: not a string"),
    (("writes", 0, "change", "update", "set", "x"), {"L": [{"S": 1}]}, r"x.L\[0\].S: not a str"),
    (("writes", 0, "change", "update", "set", "x"), {"M": {"q": 1}}, "x.M.q: not an attribute"),
]


@pytest.mark.parametrize(("path", "value", "words"), WRONG)
def test_whatever_is_wrong_is_named_with_its_place(
    path: tuple[Any, ...], value: Any, words: str
) -> None:
    broken: Any = copy.deepcopy(GOOD)
    if not path:
        broken = value
    else:
        inside = broken
        for member in path[:-1]:
            inside = inside[member]
        if value is ...:
            del inside[path[-1]]
        else:
            inside[path[-1]] = value
    with pytest.raises(UsageError, match=f"^plan.json: .*{words}"):
        values.step(broken, PLACE)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        ('{"a": 1, "a": 2}', "member 'a' is given twice"),
        ('{"a": NaN}', "NaN is no JSON"),
        ("[" * 200_000, "nested too deep"),
    ],
)
def test_text_that_is_no_json(text: str | bytes, words: str) -> None:
    with pytest.raises(UsageError, match=f"^plan.json: .*{words}"):
        parse(text, PLACE)


def test_a_text_that_is_kept_as_digits_is_written_as_a_text(monkeypatch):
    monkeypatch.setattr(files, "LEAST", 0)
    series = files.Series()
    series.value(b"offsets 1")
    kept = series.value(b"offsets 2")
    plain = {"S": "offsets 2"}
    assert isinstance(kept, files.AlikeValue)
    assert values.digest({"text": kept}) == values.digest({"text": plain})
    rows = [Image("offsets/2", {"text": value}) for value in (kept, plain)]
    assert values.text(values.image_json(rows[0])) == values.text(values.image_json(rows[1]))


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), float("inf")], ids=str)
def test_what_json_cannot_say_is_not_written(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        values.text({"text": value})


@pytest.mark.parametrize("cut", [START, DONE, at_number("7"), at_number("7", 2)], ids=str)
def test_a_place_comes_back_equal(cut: Cut) -> None:
    assert values.cut_of_list(values.cut_list(cut), PLACE) == cut
    assert values.cut_of_quiet_list(values.quiet_cut_list(cut), PLACE) == cut


@pytest.mark.parametrize("read", [values.cut_of_list, values.cut_of_quiet_list])
@pytest.mark.parametrize("given", [7, [], ["TIP", "", 0], ["INSIDE", "x", 0, None]], ids=str)
def test_what_is_no_place_is_refused(read: Any, given: Any) -> None:
    with pytest.raises(UsageError, match=r"^plan.json: not a place"):
        read(given, PLACE)


def test_a_quiet_time_that_is_none_is_named_with_its_place() -> None:
    with pytest.raises(UsageError, match=r"^plan.json: \[3\]: not a number of seconds"):
        values.cut_of_quiet_list(["START", "", 0, "soon"], PLACE)


@pytest.mark.parametrize(("member", "value", "words"), [
    ("rank", "MIDDLE", "no place in a shard is called 'MIDDLE'"),
    ("number", "7x", "not a decimal number: '7x'"),
])  # fmt: skip
def test_a_place_with_another_rank_or_number_is_refused(member: str, value: str, words: str):
    with pytest.raises(UsageError, match=f"^plan.json: {member}: {words}"):
        values.cut_of_object({**values.cut_object(at_number("7")), member: value}, PLACE)


def test_strings_are_members_of_an_object() -> None:
    assert strings({"a": "b"}, PLACE) == {"a": "b"}
    with pytest.raises(UsageError, match=r"^plan.json: not an object but a list"):
        strings([], PLACE)


@pytest.mark.parametrize("value", [True, "7", None], ids=str)
def test_what_is_no_number_of_seconds_is_refused(value: Any) -> None:
    with pytest.raises(UsageError, match=r"^plan.json: not a number of seconds"):
        seconds(value, PLACE)


@pytest.mark.parametrize("value", [1e300, float("inf"), float("nan")], ids=str)
def test_more_seconds_than_any_time_has_are_refused(value: float) -> None:
    with pytest.raises(UsageError, match=r"^plan.json: too many seconds"):
        moment(value, PLACE)


@pytest.mark.parametrize("value", [-62135596801, 253402300800], ids=["year 0", "year 10000"])
def test_a_time_is_of_the_years_that_iso_8601_can_write(value: int) -> None:
    # date -u -d 0001-01-01 +%s is -62135596800, of 9999-12-31T23:59:59 253402300799.
    with pytest.raises(UsageError, match=r"^plan.json: not a time of the years 1 to 9999"):
        moment(value, PLACE)
    inside = value + 1 if value < 0 else value - 1
    assert moment(inside, PLACE) == inside


@pytest.mark.parametrize(("source", "words"), [
    ('{"seq": 0, "kind": "header"}\n', "a journal"),
    ("shard,kind,number,sub_number\n", "a file of positions"),
    ('[consumers.fraud]\nlocator = "kcl://fraud"\n', "a configuration"),
    ('{"schema": "reshardctl/plan/1"}', "a saved plan"),
])  # fmt: skip
def test_a_file_of_another_kind_is_named_with_the_command_that_takes_it(source: str, words: str):
    told = pytest.raises(UsageError, match=f"^file is {words}, not a snapshot$")
    with told, or_another_kind(source, "file", "a snapshot"):
        raise UsageError("refused", "")


@pytest.mark.parametrize("source", ["", "[" * 100_000, '{"schema": 7}', '{"schema": "other/1"}'])
def test_what_is_of_no_known_kind_keeps_its_error(source: str) -> None:
    with pytest.raises(UsageError, match=r"^refused$"), or_another_kind(source, "file", "a plan"):
        raise UsageError("refused", "")


def test_attributes_are_an_object() -> None:
    with pytest.raises(UsageError, match=r"^plan.json: not an object but a list"):
        values.attributes([], PLACE)


@pytest.mark.parametrize(("kind", "number", "sub", "cut"), [
    ("TRIM_HORIZON", None, 0, START), ("LATEST", None, 0, TIP), ("SHARD_END", None, 0, DONE),
    ("AT_TIMESTAMP", None, 0, at_time(5.0)), ("AFTER_SEQUENCE_NUMBER", "7", 2, at_number("7", 2)),
], ids=str)  # fmt: skip
def test_a_place_by_its_kind_is_the_place_that_has_this_kind(
    kind: str, number: str | None, sub: int, cut: Cut
) -> None:
    assert values.cut_of(kind, number, sub, 5.0) == cut
    assert values.kind_of(cut) == kind


@pytest.mark.parametrize(
    "cut",
    [START, TIP, DONE, at_number("7"), at_number("7", 3), at_time(5.0), at_time(None),
     at_number("7", -PARTS), at_number("7", 2 - PARTS), Cut(Rank.INSIDE, 7)],
    ids=str,
)  # fmt: skip
def test_a_cut_comes_back_equal(cut: Cut) -> None:
    """As an object, and as kind, number and sub-sequence number of an export."""
    there = values.cut_of_object(values.cut_object(cut), PLACE)
    assert there == cut and there.text == (cut.text or str(cut.number or ""))
    kind, number = values.kind_of(cut), values.number_of(cut)
    assert values.cut_of(kind, number, values.sub_number_of(cut) or 0, cut.time) == cut


@pytest.mark.parametrize("sign", [1, -1])
def test_seconds_are_what_a_float_holds(sign: int) -> None:
    """IEEE 754: every whole number below 2^53, and not every one above."""
    assert seconds(sign * (2**53 - 1), PLACE) == sign * (2**53 - 1)
    with pytest.raises(UsageError, match=r"^plan\.json: too many seconds"):
        seconds(sign * 2**53, PLACE)
