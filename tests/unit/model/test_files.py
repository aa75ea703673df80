"""Which paths are of this machine, and texts that are kept as their digits."""

from __future__ import annotations

import random
import tracemalloc
from typing import Any

import pytest

from reshardctl.model import files
from reshardctl.model.files import AlikeText, Series, on_this_machine, outline
from reshardctl.model.write_state import same


@pytest.fixture(autouse=True)
def _however_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LEAST", 0)


def values(*texts: str) -> list[Any]:
    series = Series()
    return [series.value(text.encode()) for text in texts]


def kept(first: str, second: str) -> AlikeText:
    """The second as it is kept after the first."""
    _, value = values(first, second)
    assert isinstance(value, files.AlikeValue)
    return value.text


ALIKE = [
    ("a1b22", "a9b07"),
    ("1", "2"),
    ("12", "34"),
    ("123 é 4", "567 é 8"),
    ("no digit", "no digit"),
    ("0" * 5000 + "x", "7" * 5000 + "x"),
    ("x" * 5000 + "12", "x" * 5000 + "34"),
]


@pytest.mark.parametrize(("first", "second"), ALIKE)
def test_a_text_like_the_one_before_it_is_that_text(first: str, second: str) -> None:
    text = kept(first, second)
    assert (str(text), len(text)) == (second, len(second))
    assert text.digits == "".join(filter("0123456789".__contains__, second))


@pytest.mark.parametrize("seed", range(20))
def test_every_part_is_the_texts_own(seed: int) -> None:
    draw = random.Random(seed)
    letters = draw.choices("aé\n\r,:", k=3000) + draw.choices("0123456789", k=3000)
    draw.shuffle(letters)
    first = "".join(letters)
    second = "".join(str(draw.randrange(10)) if c.isdigit() else c for c in first)
    text = kept(first, second)
    for _ in range(200):
        start, end = draw.randrange(-10, 6100), draw.choice([None, draw.randrange(-10, 6100)])
        assert text[start:end] == second[start:end]
    places = [n for n, c in enumerate(second) if c.isdigit()]
    assert [text.digits[p] for p in map(text.shape.digits_before, places)] == [
        second[p] for p in places
    ]


@pytest.mark.parametrize(("first", "second"), [
    ("a1", "a12"), ("a12", "a1"), ("1a", "a1"), ("a1", "b1"), ("١", "1"), ("a1", "a1\n"),
])
def test_any_other_text_is_left_whole(first: str, second: str) -> None:
    assert values(first, second) == [None, None]


def test_what_is_no_text_is_kept_as_no_text() -> None:
    series = Series()
    assert series.value(b"1\xff") is None
    with pytest.raises(UnicodeDecodeError):
        series.value(b"2\xff")


def test_a_short_text_is_left_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LEAST", 3)
    assert values("a1", "a2") == [None, None]


def test_the_attribute_is_that_of_the_text() -> None:
    """A guard compares such values: any other digit is a difference, in either order."""
    _, value, again, other = values("a1b2", "a3b4", "a3b4", "a3b5")
    for equal in ({"S": "a3b4"}, again):
        assert value == equal
        assert equal == value
        assert same(value, equal)
        assert same(equal, value)
    for unequal in ({"S": "a3b5"}, {"S": "a3b44"}, {"B": "a3b4"}, other, {}):
        assert value != unequal
        assert unequal != value
    assert not same(value, other)
    assert not same(other, {"S": "a3b4"})
    assert dict(value) == {"S": "a3b4"}
    with pytest.raises(KeyError):
        value["B"]


def test_it_stands_for_the_attribute_of_the_text() -> None:
    _, value = values("a1b2", "a3b4")
    assert len(value) == 1 and dict(value) == {"S": "a3b4"}


def test_equal_texts_are_one_key() -> None:
    _, one, two, three = values("a1b2", "a3b4", "a3b4", "a3b5")
    assert len({one.text, two.text, three.text}) == 2


def test_the_outline_has_what_is_not_a_digit_where_the_text_has_it() -> None:
    assert outline("a1\nb") == "a1\nb"
    assert outline(kept("a1\nb", "a2\nb")) == "a0\nb"


def test_it_needs_less_than_half_of_the_memory() -> None:
    draw = random.Random(1)
    texts = [
        "".join(f'"shardId-{n:012d}":{{"position":"{draw.randrange(10**55, 10**56)}"}},'
                for n in range(5000)).encode() for _ in range(20)
    ]  # fmt: skip
    series = Series()
    series.value(texts[0])
    tracemalloc.start()
    try:
        held = [series.value(text) for text in texts[1:]]
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert None not in held
    assert size < sum(map(len, texts[1:])) / 2


@pytest.mark.parametrize(("path", "found"), [
    ("/a/b", "/a/b"), ("a/b", "a/b"), ("", ""), ("a:b/c", "a:b/c"), ("12:/x", "12:/x"),
    ("file:/a", "/a"), ("file:///a", "/a"), ("file:a", "a"),
    ("hdfs://node:8020/a", None), ("hdfs:///a", None), ("hdfs:/a", None),
    ("abfss://a@b.dfs.core.windows.net/x", None), ("s3a://bucket", None),
])  # fmt: skip
def test_on_this_machine(path, found):
    assert on_this_machine(path) == found
