"""Rows are simulated once for each lineage and application, whoever asks."""

from __future__ import annotations

import pytest

from reshardctl.consumers.kinesis_consumer import rows as evidence
from reshardctl.consumers.kinesis_consumer.consumer import KinesisConsumer
from reshardctl.consumers.kinesis_consumer.releases import Whose
from reshardctl.consumers.kinesis_consumer.rows import Positions
from reshardctl.consumers.kinsumer.consumer import Kinsumer
from reshardctl.consumers.quickwit.consumer import Quickwit
from reshardctl.model import Image, shard_id
from tests.support.lineages import STREAM, split_in_turn

LINEAGE = split_in_turn(2, [0])


@pytest.mark.parametrize("consumer", [Kinsumer(), KinesisConsumer(Whose("app")), Quickwit()])
def test_the_same_question_about_the_same_rows_has_one_answer(consumer):
    rows = consumer.parse([], STREAM)
    app, other = consumer.candidates(rows, {})[:2]
    once = consumer.simulate_start(LINEAGE, rows, app.app)
    assert consumer.simulate_start(LINEAGE, rows, app.app) is once
    assert consumer.simulate_start(LINEAGE, rows, other.app) is not once
    assert consumer.simulate_start(split_in_turn(2, [1]), rows, app.app) is not once
    assert consumer.simulate_start(LINEAGE, consumer.parse([], STREAM), app.app) is not once


def test_numbers_that_telegraf_overlooks_are_left_out_of_a_copy():
    """The copy is judged by itself: it must not answer with what the whole rows showed."""
    number = {"N": LINEAGE[shard_id(0)].start}
    image = Image(f"app-orders/{shard_id(0)}", {
        "namespace": {"S": "app-orders"}, "shard_id": {"S": shard_id(0)}, "sequence_number": number,
    })  # fmt: skip
    rows: Positions = KinesisConsumer(Whose("app")).parse([image], STREAM)
    assert evidence.evidence(LINEAGE, rows).kinds.keys() == {shard_id(0)}
    assert evidence.evidence(LINEAGE, rows.strings_only()).kinds == {}
    assert rows.strings_only().blank.keys() == {shard_id(0)}
