"""Which stored texts are places in a shard, and that no other text is taken for progress.

The pattern is AWS's (StartingSequenceNumber of GetShardIterator, API reference). What Kinesis
answers to the others: FakeKinesis, after kinesalite's tests against AWS; what each library makes of
that: the reference consumers, each written from its library's source.
"""

from __future__ import annotations

import pytest

from reshardctl.consumers.sequence_numbers import (
    CLOCKS_APART,
    NumberKind,
    classify,
    of_another_stream,
    of_wrong_stream,
)
from reshardctl.lineage import Lineage
from reshardctl.model import decode, index_of, is_number, shard_id
from reshardctl.testing.shards import SequenceNumber, end, start
from tests.support.judging import shard_of
from tests.support.lineages import CREATED, STREAM, split_in_turn

OWN = str(SequenceNumber(CREATED - 3, 7, CREATED + 60, 0))
NOW = CREATED + 3600
LATER = 400 * 86_400


@pytest.mark.parametrize("text", ["0", "1", OWN, "9" * 129])
def test_a_number_by_the_pattern(text: str) -> None:
    assert is_number(text)


@pytest.mark.parametrize("text", [
    "", OWN + "\n", " " + OWN, OWN + " ", "0" + OWN, "00", "+1", "-1", "1_0", "1.0", "9" * 130,
    "٤٩", OWN[:-1] + "²", "TRIM_HORIZON",
])
def test_no_number_by_the_pattern(text: str) -> None:
    assert not is_number(text)
    assert decode(text) is None


@pytest.mark.parametrize(("changed", "what"), [
    (0, ""), (1 << 72, "spare bits"), (0x80 << 72, "spare bits"), (1 << 144, "the shard's nibble"),
    (1, "the version"), (1 << 185, "the first bits"), (1 << 186, "the length"),
], ids=str)  # fmt: skip
def test_a_number_of_another_shape_has_no_fields(changed: int, what: str) -> None:
    """By bits, from the lowest: version 4, shard 32, time 36, spare 8, index 64, the last four of
    the shard, epoch 36, and 2 in two bits."""
    found = decode(str(int(OWN) ^ changed))
    assert (found is None) is bool(what)


def test_no_record_is_older_than_its_shard() -> None:
    same = SequenceNumber(CREATED, 7, CREATED, 0)
    assert decode(str(same)) is not None
    assert decode(str(int(same) - (1 << 36))) is None


def lineage(closed: bool = False) -> Lineage:
    numbers = {"StartingSequenceNumber": str(start(0, CREATED - 3))}
    if closed:
        numbers["EndingSequenceNumber"] = str(end(0, CREATED - 3, CREATED + 120))
    listed = {
        "ShardId": shard_id(0), "SequenceNumberRange": numbers,
        "HashKeyRange": {"StartingHashKey": "0", "EndingHashKey": str(2**128 - 1)},
    }
    return Lineage(STREAM, [shard_of(listed)]).as_of(NOW)


def forged(epoch: int, time: int, index: int = 9, shard: int = 0) -> str:
    return str(SequenceNumber(epoch, index, time, shard))


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize(("text", "place"), [
    (OWN, NumberKind.INSIDE),
    (str(start(0, CREATED - 3)), NumberKind.START),
    (forged(CREATED - 3, NOW + CLOCKS_APART), NumberKind.INSIDE),
    (forged(CREATED - 3, NOW + LATER), NumberKind.AHEAD),
    (forged(CREATED - 3, NOW + 3600), NumberKind.AHEAD),
    (forged(CREATED + LATER, CREATED + LATER), NumberKind.OTHER_SHARD),
    (forged(CREATED - 90_000, CREATED - 80_000), NumberKind.BEFORE_START),
    (forged(CREATED - 3, CREATED + 60, shard=1), NumberKind.OTHER_SHARD),
    (OWN + OWN[-1], NumberKind.OTHER_SHARD), (OWN[:-1], NumberKind.OTHER_SHARD),
    ("0", NumberKind.OTHER_SHARD),
    ("0" + OWN, NumberKind.NOT_A_NUMBER), (OWN + "\n", NumberKind.NOT_A_NUMBER),
])
def test_how_a_text_fits_its_shard(text: str, place: NumberKind, closed: bool) -> None:
    assert classify(lineage(closed), shard_id(0), text) is place


def test_a_younger_number_is_of_another_stream_where_it_is_out_of_range() -> None:
    """On an open shard it is a finding of its row; one beyond a shard's end is another stream's."""
    later = forged(CREATED + LATER, CREATED + LATER)
    assert of_another_stream(lineage(closed=True), forged(CREATED + 600, CREATED + 700))
    assert of_another_stream(lineage(closed=True), later)
    assert not of_another_stream(lineage(), later)


def test_only_a_store_without_any_number_of_this_stream_is_another_streams() -> None:
    """One wrong row must not hide the others (DESIGN.md, rule 13)."""
    later = forged(CREATED + LATER, CREATED + LATER)
    alone, beside = {shard_id(0): later}, {shard_id(1): later, shard_id(0): OWN}
    assert of_wrong_stream(lineage(closed=True), alone) == shard_id(0)
    assert of_wrong_stream(lineage(closed=True), beside) is None


@pytest.mark.parametrize("refused", [False, True])
def test_once_kinesis_refuses_a_number_one_that_nothing_proves_is_not_this_streams(refused) -> None:
    """Of two unknown epochs Kinesis was asked about the first only."""
    first, second = (forged(CREATED + epoch, CREATED + 60) for epoch in (5, 6))
    asked = {int(first): False} if refused else {}
    found = of_wrong_stream(lineage().as_of(NOW, asked), {shard_id(0): second, shard_id(1): first})
    assert found == (shard_id(1) if refused else None)


def test_a_shard_id_of_thousands_of_digits_is_no_shard() -> None:
    """PostgreSQL and Redis keep any text; int() takes 4300 digits."""
    assert index_of("shardId-" + "9" * 5000) is None


def test_a_clock_before_the_streams_creation_judges_nothing() -> None:
    early = lineage().as_of(CREATED - 3600)
    assert classify(early, shard_id(0), OWN) is NumberKind.INSIDE


def test_another_text_of_the_same_shard_is_another_question() -> None:
    """A repair moves a row and asks again."""
    lineage = split_in_turn(2, [])
    shard = shard_id(1)
    assert classify(lineage, shard, lineage[shard].start) is NumberKind.START
    assert classify(lineage, shard, lineage[shard_id(0)].start) is NumberKind.OTHER_SHARD
    assert classify(lineage, shard, lineage[shard].start) is NumberKind.START
