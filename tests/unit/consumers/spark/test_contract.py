"""The consumer contract, kept on checkpoints of awslabs' and of Qubole's connector.

A row there is a file of the connector's log of batch 0; the batch names every shard that has one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshardctl.consumers.base import Cannot
from reshardctl.consumers.spark.consumer import Spark
from reshardctl.consumers.spark.lines import awslabs, qubole
from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    LATEST,
    SHARD_END,
    TRIM_HORIZON,
    Position,
)
from reshardctl.consumers.spark.releases import QUBOLE_1_2, App, Start
from reshardctl.errors import CannotTell, UsageError
from reshardctl.lineage import Lineage
from reshardctl.model import START, Image, ShardId
from reshardctl.planning.policy import LOSSLESS
from tests.contracts.consumer_contract import ConsumerContract, RowPosition, _settings
from tests.support.connector_entries import entry_text
from tests.support.lineages import STREAM, lineages, number_inside

pytestmark = pytest.mark.long

METADATA = Image("metadata", {"text": {"S": '{"id":"69880f2a-f006-496b-9513-9120bf42d838"}'}})
COMMIT = 'v1\n{"nextBatchWatermarkMs":0}'
PLANNED = int(STREAM.created) - 3600
HEAD = json.dumps({"batchWatermarkMs": 0, "batchTimestampMs": PLANNED * 1000, "conf": {}})

TEXTS = st.one_of(
    st.text(max_size=20),
    st.sampled_from([
        "", "v1", "v1\n", "v1\n\n", f"v1\n{HEAD}\n-", f"v1\n{HEAD}\n{{}}", f"v2\n{HEAD}\n0:{{}}",
        "{", "[]", "null", COMMIT, METADATA.attributes["text"]["S"],
        f"v1\n{HEAD}\n" + '{"metadata":{"streamName":"orders","batchId":"0"}}',
        f"v1\n{HEAD}\n" + '{"metadata":{"streamName":"orders","batchId":"0"},'
        '"shardId-000000000000":{"iteratorType":"TRIM_HORIZON","iteratorPosition":""}}',
        '{"shardId":"shardId-000000000000","iteratorType":"SHARD_END","iteratorPosition":""}',
        '{"shards": {"shardId-000000000000": {"seq": "", "end": false}}}',
    ]),
)  # fmt: skip
KEYS = st.sampled_from([
    "metadata", "offsets/0", "offsets/1", "offsets/2", "offsets/x", "offsets/", "offsets/0/",
    "commits/0", "commits/1", "commits/9", "sources/0/shard-commit/0/shardId-000000000000",
    "sources/0/shard-commit/0/README", "sources/0/shard-source/1/shardId-000000000001",
    "state/0/0/1.delta", "offsets/.1.1.tmp", "",
])
VALUES = st.one_of(
    st.builds(lambda text: {"text": {"S": text}}, TEXTS),
    st.sampled_from([{}, {"crc": {"B": "AA=="}}, {"bytes": {"B": "/w=="}}, {"unread": {"S": "x"}},
                     {"size": {"N": "3"}}]),
)


class SparkContract(ConsumerContract):
    """The suite in tests.contracts.consumer_contract, with what a checkpoint differs in."""

    consumer = Spark()
    foreign = (Image("offsets/0.orig", {"text": {"S": "mine"}}), METADATA)
    connector = awslabs
    log = "sources/0/shard-source/0"
    scala = "2.13"

    def row(self, lineage: Lineage, shard: ShardId, at: RowPosition) -> Image | None:
        position = {
            RowPosition.START: Position(TRIM_HORIZON),
            RowPosition.TIP: Position(LATEST),
            RowPosition.END: Position(SHARD_END),
            RowPosition.INSIDE: Position(AFTER_SEQUENCE_NUMBER, number_inside(lineage, shard)),
        }[at]
        text = entry_text(self.connector, shard, position)
        return Image(f"{self.log}/{shard}", {"text": {"S": text}})

    def whole(self, rows: Sequence[Image]) -> list[Image]:
        """A checkpoint of one committed batch over these entries."""
        if not rows:
            return [METADATA]
        named = {ShardId(row.key.rpartition("/")[2]): Position(TRIM_HORIZON) for row in rows}
        line = self.connector.line(STREAM.name, 0, named, self.scala)
        texts = {"offsets/0": f"v1\n{HEAD}\n{line}", "commits/0": COMMIT}
        files = [Image(key, {"text": {"S": text}}) for key, text in texts.items()]
        return sorted([METADATA, *files, *rows], key=lambda image: image.key)

    def drawn(self, data: st.DataObject) -> tuple[Lineage, list[Image]]:
        lineage, rows = super().drawn(data)
        return lineage, self.whole(rows)

    def healthy(self, lineage: Lineage) -> list[Image]:
        return self.whole(super().healthy(lineage))

    def junk(self) -> st.SearchStrategy[list[Image]]:
        image = st.builds(Image, KEYS, VALUES)
        return st.lists(image, max_size=8, unique_by=lambda one: one.key)

    @_settings
    @given(st.data())
    def test_rows_of_any_sort_are_judged_or_refused(self, data: st.DataObject) -> None:
        """A checkpoint may also hold too little to say anything."""
        lineage, images = data.draw(lineages()), data.draw(self.junk())
        try:
            checkpoint = self.consumer.parse(images)
            self.consumer.empty(checkpoint)
            self.consumer.positions(checkpoint)
            self.consumer.anomalies(lineage, checkpoint)
            self.consumer.incarnation(lineage, checkpoint)
            for candidate in self.each(images):
                app = candidate.app
                assert isinstance(app, App)
                line = self.consumer.processed(lineage, checkpoint, app)
                self.consumer.simulate_start(lineage, checkpoint, app)
                want = LOSSLESS.frontier(lineage, line)
                self.consumer.encode(lineage, checkpoint, want, app, ())
            held = self.consumer.owners_by_shard(checkpoint)
            assert set(held) == set(self.consumer.positions(checkpoint))
        except (UsageError, CannotTell) as refused:
            assert refused.what

    def test_no_rows_are_an_empty_store(self) -> None:
        """A checkpoint without a batch; no file at all is no checkpoint."""
        assert self.consumer.empty(self.consumer.parse([METADATA]))
        with pytest.raises(UsageError):
            self.consumer.parse([])

    @_settings
    @given(st.data())
    def test_the_first_rows_of_a_new_consumer(self, data: st.DataObject) -> None:
        """None can be written: Spark makes a query's first batch itself."""
        lineage = data.draw(lineages())
        want = dict.fromkeys(lineage, START)
        found = self.consumer.bootstrap(lineage, want, App(QUBOLE_1_2, Start.TRIM_HORIZON))
        assert isinstance(found, Cannot) and "startingPosition" in found.ways_out[0]

    def test_a_family_has_its_members_and_is_the_same_for_each(self) -> None:
        """The batches and commits beside a written one."""
        family = self.consumer.family(Lineage(STREAM, []), {"offsets/7"})
        near = {f"{folder}/{n}" for folder in ("offsets", "commits") for n in (6, 7, 8)}
        assert near == set(family)


class TestAwslabs(SparkContract):
    """Releases of awslabs, alone and left open."""

    options = (
        {}, {"release": "awslabs-1.4.2", "startingPosition": "TRIM_HORIZON"},
        {"release": "awslabs-head", "startingPosition": "LATEST", "failOnDataLoss": "true"},
    )


class TestQubole(SparkContract):
    """Qubole's."""

    connector = qubole
    log = "sources/0/shard-commit/0"
    scala = "2.12"
    options = ({"release": "qubole", "startingPosition": "AT_TIMESTAMP:2026-11-21T00:05:00Z"},)


del ConsumerContract, SparkContract  # abstract: not for pytest to collect

