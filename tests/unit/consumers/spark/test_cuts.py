"""Places as cuts, and cuts as places that Kinesis takes."""

from __future__ import annotations

import itertools

import pytest

from reshardctl.auditing.facts import Record
from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    AT_SEQUENCE_NUMBER,
    Position,
    cut_of,
    position_at,
)
from reshardctl.diagnosis.rules.sinks import behind, covers
from reshardctl.kinesis.walk import start_words
from reshardctl.model import at_number, decode

N = "49682270118325013364312256743091471265914410120216805378"
AT, AFTER = Position(AT_SEQUENCE_NUMBER, N), Position(AFTER_SEQUENCE_NUMBER, N)
PARTLY = Position(AFTER_SEQUENCE_NUMBER, N, 3, last=False)


@pytest.mark.parametrize("position", [AT, PARTLY, Position(AT_SEQUENCE_NUMBER, N, 4)])
def test_a_place_before_a_record_is_asked_for_by_that_record(position: Position) -> None:
    """AFTER n - 1 is refused: it is no record's number (runs of the connectors, November 2026)."""
    cut = cut_of(position)
    assert decode(cut.number) == decode(N)
    assert start_words(cut) == {
        "ShardIteratorType": AT_SEQUENCE_NUMBER, "StartingSequenceNumber": N,
    }
    assert position_at(cut) == AT


@pytest.mark.parametrize("position", [
    Position("TRIM_HORIZON"), Position("LATEST"), Position("AT_TIMESTAMP", "1795219500250"), AFTER,
    AT,
])
def test_a_place_is_spelled_as_it_was_read(position: Position) -> None:
    assert position_at(cut_of(position)) == position


def test_they_lie_in_their_order() -> None:
    places = [AT, Position(AFTER_SEQUENCE_NUMBER, N, 0, last=False), PARTLY, AFTER]
    cuts = [cut_of(position) for position in places]
    assert all(one < other for one, other in itertools.pairwise(cuts))
    assert at_number(str(int(N) - (1 << 80))) < cuts[0]
    assert [str(cuts[0]), str(cuts[-1])] == [f"before {N}", N]


def test_the_record_itself_is_owed() -> None:
    record = Record(N, 0)
    assert behind(cut_of(AT), record)
    assert not covers(cut_of(AT), record)
    assert covers(cut_of(AFTER), record)
