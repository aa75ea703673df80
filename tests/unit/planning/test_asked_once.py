"""A decision asks a consumer once about each candidate and each set of rows."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from reshardctl.consumers.kinsumer.consumer import Kinsumer
from reshardctl.consumers.kinsumer.releases import App
from reshardctl.consumers.kinsumer.spec import CHECKPOINTS
from reshardctl.model import Create, Image, Step, Write, canonical, shard_id
from reshardctl.planning.case import Case
from reshardctl.planning.effects import StreamState
from tests.support.lineages import split_in_turn


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


def case_of(images: list[Image], shards: int = 2) -> tuple[Counted, Case]:
    consumer, lineage = Counted(), split_in_turn(shards, [0])
    candidates = consumer.candidates(consumer.parse(images), {})
    consumer.asked.clear()
    return consumer, Case(consumer, StreamState(lineage, 0.0), images, candidates)


def start_of(case: Case) -> str:
    return case.state.lineage[shard_id(0)].start


def test_equal_rows_are_parsed_once():
    consumer, case = case_of([row(0, "1")])
    first = case.checkpoint()
    assert case.checkpoint([row(0, "1")]) is first
    assert consumer.asked == {"parse": 1}


def test_steps_are_applied_once_to_the_rows():
    _, case = case_of([row(0, "1")])
    made = Write("b", Create({"x": {"S": "new"}}), None, "why")
    steps = (Step("rows", (made,)),)
    first = case.after(steps)
    assert [image.key for image in first] == ["b", case.images[0].key]
    assert case.after(list(steps)) is first
    assert len(case.after(())) == 1


def test_each_candidate_is_simulated_once_for_each_set_of_rows():
    consumer, case = case_of([row(0, "1")])
    case = replace(case, images=[row(0, start_of(case))])
    checkpoint, (candidate, *_) = case.checkpoint(), case.candidates
    starts = [case.simulation(checkpoint, candidate) for _ in range(3)]
    frontiers = [case.processed(checkpoint, candidate) for _ in range(3)]
    assert consumer.asked["start"] == consumer.asked["processed"] == 1
    assert isinstance(candidate.app, App)
    lineage = case.state.lineage
    assert starts == 3 * [Kinsumer().simulate_start(lineage, checkpoint, candidate.app)]
    assert frontiers == 3 * [Kinsumer().processed(lineage, checkpoint, candidate.app)]


def test_other_rows_and_another_lineage_are_other_questions():
    _, case = case_of([row(0, "1")])
    checkpoint, (candidate, *_) = case.checkpoint(), case.candidates
    assert case.checkpoint([row(0, "2")]) is not checkpoint
    case.simulation(checkpoint, candidate)
    other = split_in_turn(3, [0])
    elsewhere = replace(case, state=StreamState(other, 0.0))
    assert elsewhere.simulation(checkpoint, candidate).fates.keys() >= set(other)


def test_a_later_look_at_the_stream_is_another_question():
    consumer, case = case_of([row(0, "1")])
    case.checkpoint()
    later = case.state.lineage.as_of(case.state.lineage.stream.created + 9)
    replace(case, state=StreamState(later, 0.0)).checkpoint()
    assert consumer.asked["parse"] == 2
