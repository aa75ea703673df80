"""Whether the one batch that reads a closed shard reaches its end.

A shard takes at most 1,000 records a second (PutRecords API reference), and awslabs 1.4.3 and later
read a closed shard in the batch that is planned for it, and never again (runs on the connector's
jars, November 2026: s1x with a small maxFetchRecordsPerShard).
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reshardctl.consumers.spark.positions import (
    AFTER_SEQUENCE_NUMBER,
    AT_TIMESTAMP,
    TRIM_HORIZON,
    Position,
)
from reshardctl.consumers.spark.releases import AWSLABS_1_4_2, AWSLABS_2_0, App, Start
from reshardctl.consumers.spark.starts import beyond_the_limit
from reshardctl.lineage import Lineage
from reshardctl.model import shard_id
from reshardctl.testing.shards import SequenceNumber, end
from tests.support.lineages import CREATED, STREAM
from tests.unit.lineage.histories import fresh

CLOSED = CREATED + 100


def a_second(second: int) -> str:
    return str(SequenceNumber(CREATED - 3, 0, second, 0))


@pytest.mark.parametrize(("at", "seconds"), [
    (Position(AFTER_SEQUENCE_NUMBER, a_second(CLOSED - 6)), 7),
    (Position(AFTER_SEQUENCE_NUMBER, a_second(CLOSED)), 1),
    (Position(AT_TIMESTAMP, str(1000 * (CLOSED - 20))), 21),
    (Position(TRIM_HORIZON, ""), 104),
])  # fmt: skip
def test_one_batch_reaches_the_end_where_the_rest_can_hold_no_more(at: Position, seconds: int):
    """The shard opened three seconds before its stream was created. Both seconds at the ends count:
    each may hold a thousand records."""
    history = fresh(2)
    history.split(0)
    shards = {shard.id: shard for shard in history.shards()}
    zero = replace(shards[shard_id(0)], start=a_second(CREATED - 3),
                   end=str(end(0, CREATED - 3, CLOSED)))  # fmt: skip
    lineage = Lineage(STREAM, [*(shards | {zero.id: zero}).values()])
    app = App(AWSLABS_2_0, Start.TRIM_HORIZON)
    needed = 1000 * seconds
    told = {n: beyond_the_limit(lineage, zero.id, at, replace(app, limit=n))
            for n in (needed - 1, needed)}  # fmt: skip
    assert told[needed] == ""
    assert f"one batch reads at most {needed - 1} records" in told[needed - 1]
    assert beyond_the_limit(lineage, zero.id, at, app) == "", "the default limit is not judged"
    rest = App(AWSLABS_1_4_2, Start.TRIM_HORIZON, limit=1)
    assert beyond_the_limit(lineage, zero.id, at, rest) == "", "the next batch reads the rest"
