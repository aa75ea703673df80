"""A decision asks a consumer once about each candidate and each set of rows."""

from __future__ import annotations

from collections import Counter

from reshardctl.consumers.kinsumer.consumer import Kinsumer
from reshardctl.consumers.kinsumer.releases import App
from reshardctl.consumers.kinsumer.spec import CHECKPOINTS
from reshardctl.model import Create, Image, Step, Write, canonical, shard_id
from reshardctl.planning.case import STATES, Remembered
from tests.support.lineages import split_in_turn

LINEAGE = split_in_turn(2, [0])


class Counted(Kinsumer):
    """kinsumer, which counts the questions that it is asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def parse(self, images, stream=None, /):
        self.asked["parse"] += 1
        return super().parse(images, stream)

    def parse_again(self, images, stream, before, /):
        self.asked["parse"] += 1
        return super().parse_again(images, stream, before)

    def processed(self, lineage, checkpoint, app, /):
        self.asked["processed"] += 1
        return super().processed(lineage, checkpoint, app)

    def simulate_start(self, lineage, checkpoint, app, /):
        self.asked["start"] += 1
        return super().simulate_start(lineage, checkpoint, app)


def row(shard: int, number: str) -> Image:
    named = canonical({"Shard": {"S": shard_id(shard)}, "SequenceNumber": {"S": number}})
    return Image(f"{CHECKPOINTS}{shard_id(shard)}", named)


def test_equal_rows_are_parsed_once():
    consumer, remembered = Counted(), Remembered()
    first = remembered.checkpoint(consumer, [row(0, LINEAGE[shard_id(0)].start)], LINEAGE.stream)
    again = remembered.checkpoint(consumer, [row(0, LINEAGE[shard_id(0)].start)], LINEAGE.stream)
    assert again is first
    assert consumer.asked == {"parse": 1}


def test_steps_are_applied_once_to_the_rows():
    remembered, rows = Remembered(), [row(0, "1")]
    made = Write("b", Create({"x": {"S": "new"}}), None, "why")
    steps = (Step("rows", (made,)),)
    first = remembered.after(rows, steps)
    assert [image.key for image in first] == ["b", rows[0].key]
    assert remembered.after(rows, list(steps)) is first
    assert remembered.after(list(rows), steps) is not first
    assert len(remembered.after(rows, ())) == 1


def test_each_candidate_is_simulated_once_for_each_set_of_rows():
    consumer, remembered = Counted(), Remembered()
    some = [row(0, LINEAGE[shard_id(0)].start)]
    checkpoint = remembered.checkpoint(consumer, some, LINEAGE.stream)
    (candidate, *_) = consumer.candidates(checkpoint, {})
    starts = [remembered.start(consumer, LINEAGE, checkpoint, candidate) for _ in range(3)]
    frontiers = [remembered.processed(consumer, LINEAGE, checkpoint, candidate) for _ in range(3)]
    assert consumer.asked["start"] == consumer.asked["processed"] == 1
    assert isinstance(candidate.app, App)
    assert starts == 3 * [Kinsumer().simulate_start(LINEAGE, checkpoint, candidate.app)]
    assert frontiers == 3 * [Kinsumer().processed(LINEAGE, checkpoint, candidate.app)]


def test_other_rows_and_another_lineage_are_other_questions():
    consumer, remembered = Counted(), Remembered()
    checkpoint = remembered.checkpoint(consumer, [row(0, "1")], LINEAGE.stream)
    assert remembered.checkpoint(consumer, [row(0, "2")], LINEAGE.stream) is not checkpoint
    (candidate, *_) = consumer.candidates(checkpoint, {})
    remembered.start(consumer, LINEAGE, checkpoint, candidate)
    other = split_in_turn(3, [0])
    assert remembered.start(consumer, other, checkpoint, candidate).fates.keys() >= set(other)


def test_a_later_look_at_the_stream_is_another_question():
    consumer, remembered = Counted(), Remembered()
    rows = [row(0, LINEAGE[shard_id(0)].start)]
    remembered.checkpoint(consumer, rows, LINEAGE.stream)
    remembered.checkpoint(consumer, rows, LINEAGE.as_of(LINEAGE.stream.created + 9).stream)
    assert consumer.asked["parse"] == 2


def test_the_rows_that_were_asked_for_last_are_kept():
    consumer, remembered = Counted(), Remembered()
    for number in range(1, STATES + 1):
        remembered.checkpoint(consumer, [row(0, "0")], LINEAGE.stream)
        remembered.checkpoint(consumer, [row(0, str(number))], LINEAGE.stream)
    assert consumer.asked["parse"] == STATES + 1
    remembered.checkpoint(consumer, [row(0, "1")], LINEAGE.stream)
    assert consumer.asked["parse"] == STATES + 2
