"""What a sink tells by itself. The expectations are what the rows were laid out to be."""

from __future__ import annotations

from collections import Counter
from typing import Any

from reshardctl.auditing.facts import Fault
from reshardctl.spark.audit import Columns, audit
from tests.unit.lineage.histories import CREATED
from tests.unit.spark.audit.sinks import clean, frame, numbered, row, split_once


def test_a_clean_sink(spark: Any) -> None:
    facts = audit(frame(spark, clean()), lineage=split_once(), sink="s").facts
    assert facts.rows == 9 and facts.unusable == () and facts.sink == "s"
    found = {name[-1]: shard for name, shard in facts.shards.items()}
    assert {name: shard.rows for name, shard in found.items()} == {"1": 5, "2": 3, "3": 1}
    assert found["1"].first.number == numbered(1, 1, after=1)
    assert found["1"].last.number == numbered(1, 5, after=5)
    assert found["1"].last.arrival == CREATED + 6
    assert not any(shard.doubled or shard.extra for shard in found.values())
    assert sum(bucket.rows for bucket in facts.buckets) == 9


def test_doubled_records_are_counted_exactly(spark: Any) -> None:
    rows = [*clean(), row(1, 2), row(1, 2), row(1, 4), row(3, 1, CREATED + 1)]
    found = audit(frame(spark, rows), lineage=split_once())
    by_name = {name[-1]: shard for name, shard in found.facts.shards.items()}
    assert (by_name["1"].doubled, by_name["1"].extra) == (2, 3)
    assert (by_name["2"].doubled, by_name["2"].extra) == (0, 0)
    assert (by_name["3"].doubled, by_name["3"].extra) == (1, 1)
    records = {(r["sequence_number"], r["copies"]) for r in found.doubled.collect()}
    later = CREATED + 1
    assert records == {
        (numbered(1, 2, after=2), 3), (numbered(1, 4, after=4), 2),
        (numbered(3, 1, later, 1), 2),
    }  # fmt: skip
    assert sum(bucket.extra for bucket in found.facts.buckets) == 4


def test_records_of_one_aggregate_are_not_doubled(spark: Any) -> None:
    rows = [row(1, 1, sub_sequence_number=sub) for sub in range(3)]
    facts = audit(frame(spark, rows), lineage=split_once()).facts
    (shard,) = facts.shards.values()
    assert (shard.rows, shard.doubled, shard.first.sub, shard.last.sub) == (3, 0, 0, 2)


FAULTS: list[tuple[dict[str, Any], Fault, int | None]] = [
    ({"sequence_number": None}, Fault.NO_NUMBER, None),
    ({"sequence_number": ""}, Fault.NO_NUMBER, None),
    ({"sequence_number": "4.96e55"}, Fault.NOT_NUMERIC, None),
    ({"sequence_number": " 1"}, Fault.NOT_NUMERIC, None),
    ({"sequence_number": numbered(1, 7)[:-1] + "\n"}, Fault.NOT_NUMERIC, None),
    ({"sequence_number": numbered(1, 7)[:17] + "+" + numbered(1, 7)[18:]}, Fault.NOT_NUMERIC, 1),
    ({"sequence_number": numbered(1, 7)[:18] + "a" + numbered(1, 7)[19:]}, Fault.NOT_NUMERIC, 1),
    ({"sequence_number": numbered(1, 7)[:20] + "+" + numbered(1, 7)[21:]}, Fault.NOT_NUMERIC, None),
    ({"sequence_number": "9" * 57}, Fault.ODD_LENGTH, None),
    ({"sequence_number": "12"}, Fault.ODD_LENGTH, None),
    ({"sequence_number": "1" * 56}, Fault.UNKNOWN_SHARD, None),
    ({"stream": "payments"}, Fault.OTHER_STREAM, 1),
    ({"sequence_number": numbered(1, 1, CREATED - 999)}, Fault.OTHER_INCARNATION, 1),
    ({"sequence_number": numbered(9, 1), "shard_id": None}, Fault.UNKNOWN_SHARD, None),
    ({"sequence_number": numbered(9, 1)}, Fault.NOT_ITS_SHARD, None),
    ({"shard_id": "shardId-000000000003"}, Fault.NOT_ITS_SHARD, 1),
    # Shard 0 was closed in the second of its birth.
    ({"sequence_number": numbered(0, 2**63, CREATED + 5), "shard_id": None},
     Fault.NOT_ITS_SHARD, 0),
]  # fmt: skip


def test_rows_of_no_shard(spark: Any) -> None:
    rows = [row(1, 99, partition_key=str(n), **change) for n, (change, _, _) in enumerate(FAULTS)]
    found = audit(frame(spark, [*clean(), *rows]), lineage=split_once())
    told = {int(r["partition_key"]): r for r in found.unusable.collect()}
    for n, (_, fault, shard) in enumerate(FAULTS):
        named = told[n]["shard_id"]
        assert (n, told[n]["fault"]) == (n, fault)
        # What is not even a number may look like one of a shard.
        if fault is not Fault.NOT_NUMERIC or shard is None:
            assert (n, named) == (n, None if shard is None else f"shardId-{shard:012d}")
    assert len(told) == len(FAULTS)
    counted = Counter(one.fault for one in found.facts.unusable for _ in range(one.rows))
    assert counted == Counter(fault for _, fault, _ in FAULTS)
    samples = {sample for one in found.facts.unusable for sample in one.samples}
    assert samples <= {row["sequence_number"] for row in rows} and " 1" in samples
    assert found.facts.rows == 9 + len(FAULTS)
    assert sum(shard.rows for shard in found.facts.shards.values()) == 9


def test_the_shard_is_in_the_number(spark: Any) -> None:
    without = frame(spark, clean()).drop("shard_id", "stream", "approximate_arrival_timestamp")
    facts = audit(without, lineage=split_once(), columns=Columns(shard="")).facts
    assert {name[-1]: one.rows for name, one in facts.shards.items()} == {"1": 5, "2": 3, "3": 1}
    assert facts.unusable == ()
    assert sum(bucket.rows for bucket in facts.buckets) == 9
