"""Rows are simulated once for each lineage and application, whoever asks."""

from __future__ import annotations

import pytest

from reshardctl.consumers.kcl import encode as kcl_encode
from reshardctl.consumers.kcl.consumer import Kcl
from reshardctl.consumers.kinesis_consumer import encode as kinesis_consumer_encode
from reshardctl.consumers.kinesis_consumer import rows as evidence
from reshardctl.consumers.kinesis_consumer.consumer import KinesisConsumer
from reshardctl.consumers.kinesis_consumer.releases import Whose
from reshardctl.consumers.kinesis_consumer.rows import Positions
from reshardctl.consumers.kinsumer import encode as kinsumer_encode
from reshardctl.consumers.kinsumer.consumer import Kinsumer
from reshardctl.consumers.quickwit.consumer import Quickwit
from reshardctl.model import Image, shard_id
from tests.support.lineages import STREAM, split_in_turn

LINEAGE = split_in_turn(2, [0])


@pytest.mark.parametrize("consumer", [Kinsumer(), KinesisConsumer(Whose("app")), Quickwit(), Kcl()])
def test_the_same_question_about_the_same_rows_has_one_answer(consumer):
    def asked(lineage, rows, app):
        return lineage.memo(consumer.simulate_start, lineage, rows, app)

    rows = consumer.parse([], STREAM)
    app, other = consumer.candidates(rows, {})[:2]
    once = asked(LINEAGE, rows, app.app)
    assert asked(LINEAGE, rows, app.app) is once
    assert asked(LINEAGE, rows, other.app) is not once
    assert asked(split_in_turn(2, [1]), rows, app.app) is not once
    assert asked(LINEAGE, consumer.parse([], STREAM), app.app) is not once


@pytest.mark.parametrize(("consumer", "encode"), [
    (Kinsumer(), kinsumer_encode), (KinesisConsumer(), kinesis_consumer_encode),
    (Kcl(), kcl_encode),
])  # fmt: skip
def test_who_encodes_asks_the_same_question_as_who_judges(consumer, encode):
    """The memo tells questions apart by their function: a wrapped one would be asked twice."""
    assert consumer.simulate_start is encode.simulate_start


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
