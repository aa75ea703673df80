"""The demo's stream and rows are those of the recording, at another time.

The expectations are the recording itself: tests/golden/kcl/3.5.1/g5-second-generation, written by
KCL 3.5.1, and the table in its README.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from reshardctl.demo import servers

GOLDEN = Path(__file__).resolve().parents[2] / "golden/kcl/3.5.1/g5-second-generation"
# 30 minutes and some after the turn of a second, years after the recording.
TODAY = 1900001800.25
AS_RECORDED = float(servers.RECORDED + servers.AGE)


def golden(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text())


def records(now: float) -> dict[str, dict[str, str]]:
    """Shard id to payload to number, as the stream has them."""
    shards = servers.stream_as_of(now).stream(servers.STREAM).shards.values()
    return {
        shard.id: {record.payload.decode(): str(record.number) for record in shard.records}
        for shard in shards
    }


@pytest.mark.parametrize("name", ["leases.json", "table.json"])
def test_the_package_holds_what_kcl_wrote(name: str) -> None:
    packed = files("reshardctl.demo").joinpath("recorded", name).read_bytes()
    assert packed == (GOLDEN / name).read_bytes()


def test_at_the_time_of_the_recording_every_record_has_its_recorded_number() -> None:
    ours = records(AS_RECORDED)
    for shard, recorded in golden("records.json").items():
        if recorded:
            assert ours[shard] == {payload: number for number, payload in recorded}


def test_at_the_time_of_the_recording_the_shards_are_the_recorded_ones() -> None:
    client = servers.stream_as_of(AS_RECORDED).client()
    ours = {shard["ShardId"]: shard for shard in client.list_shards(StreamName="orders")["Shards"]}
    for recorded in golden("shards.json")["Shards"]:
        mine = ours.pop(recorded["ShardId"])
        if "EndingSequenceNumber" not in recorded["SequenceNumberRange"]:
            mine["SequenceNumberRange"].pop("EndingSequenceNumber", None)
        assert mine == recorded
    # What happened afterwards: the merge of 1 and 3, which the recording does not have.
    (merged,) = ours.values()
    parents = merged["ParentShardId"], merged["AdjacentParentShardId"]
    assert parents == ("shardId-000000000003", "shardId-000000000001")


@pytest.mark.parametrize("now", [AS_RECORDED, TODAY])
def test_positions_stay_at_their_records(now: float) -> None:
    rows = {row["leaseKey"]["S"]: row for row in servers.leases_as_of(now)}
    stored = re.findall(r"^(shardId-\d+)  (s\d+-\d+) @", (GOLDEN / "README.md").read_text(), re.M)
    kept = [(shard, payload) for shard, payload in stored if shard not in servers.LOST]
    assert kept == [("shardId-000000000001", "s1-3"), ("shardId-000000000003", "s3-1")]
    for shard, payload in kept:
        assert rows[shard]["checkpoint"] == {"S": records(now)[shard][payload]}


def test_only_numbers_differ_from_what_kcl_wrote() -> None:
    recorded = {row["leaseKey"]["S"]: row for row in golden("leases.json")["Items"]}
    rows = {row["leaseKey"]["S"]: row for row in servers.leases_as_of(TODAY)}
    assert recorded.keys() - rows.keys() == servers.LOST
    moved = set()
    for key, row in rows.items():
        assert list(row) == list(recorded[key])
        moved |= {(key, name) for name in row if row[name] != recorded[key][name]}
    numbered = {"shardId-000000000001", "shardId-000000000003"}
    assert moved == {(key, "checkpoint") for key in numbered}


def test_nothing_of_the_stream_has_expired_and_its_clock_is_ours() -> None:
    fake = servers.stream_as_of(TODAY)
    assert TODAY <= fake.clock.now() < TODAY + 60
    listed = fake.client().list_shards(StreamName="orders")["Shards"]
    assert len(listed) == 7
    summary = fake.client().describe_stream_summary(StreamName="orders")
    described = summary["StreamDescriptionSummary"]
    assert described["OpenShardCount"] == 3
    assert described["StreamCreationTimestamp"].timestamp() == servers.creation(TODAY)
    newest = max(r.arrival for s in fake.stream("orders").shards.values() for r in s.records)
    assert newest < TODAY


def test_the_table_is_made_as_kcl_made_it() -> None:
    assert servers.table_description() == golden("table.json") | {"TableName": "orders-reader"}
