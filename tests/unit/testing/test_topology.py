"""Streams from a description, against listings that a real KCL was run on, and the cases."""

from __future__ import annotations

import json
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from reshardctl.testing import FakeKinesis, load_topology
from reshardctl.testing.shards import parse
from tests.support import case_stream
from tests.support.grouped import by_case
from tests.unit.testing.samples import (
    CREATED,
    GOLDEN,
    SPLIT,
    golden,
    kept,
    listed,
    read,
    refusal,
)

SCENARIOS = sorted(
    str(path.parent.relative_to(GOLDEN)) for path in GOLDEN.glob("kcl/*/*/shards.json")
)


assert "kcl/3.5.1/g5-second-generation" in SCENARIOS


def described(shards: list[dict[str, Any]], records: dict[str, Any]) -> dict[str, Any]:
    """The topology behind a golden listing and its records, read from their numbers."""
    number = {shard["ShardId"]: int(shard["ShardId"][8:]) for shard in shards}
    created = parse(shards[0]["SequenceNumberRange"]["StartingSequenceNumber"]).epoch + 3
    rows = []
    for shard in shards:
        span = shard["SequenceNumberRange"]
        low, high = (int(shard["HashKeyRange"][f"{end}HashKey"]) for end in ("Starting", "Ending"))
        parents = [shard[k] for k in ("ParentShardId", "AdjacentParentShardId") if k in shard]
        row: dict[str, Any] = {
            "id": number[shard["ShardId"]],
            "range": [str(Fraction(low, 2**128)), str(Fraction(high + 1, 2**128))],
            "parents": [number[parent] for parent in parents],
            "open": parse(span["StartingSequenceNumber"]).time - created if parents else 0,
            "records": [
                {"t": parse(n).time - created, "data": payload}
                for n, payload in records[shard["ShardId"]]
            ],
        }
        if "EndingSequenceNumber" in span:
            row["close"] = parse(span["EndingSequenceNumber"]).time - created
        rows.append(row)
    return {"name": "orders", "created": created, "shards": rows}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_golden_stream_is_reproduced_number_by_number(scenario: str) -> None:
    # Listings and records that KCL 2.7.2, 3.1.3 and 3.5.1 were run on, November 2026.
    shards = golden(f"{scenario}/shards.json")["Shards"]
    records = golden(f"{scenario}/records.json")
    client = load_topology(described(shards, records)).client()
    assert client.list_shards(StreamName="orders")["Shards"] == shards
    assert records.keys() == {shard["ShardId"] for shard in shards}
    for name, wanted in records.items():
        assert kept(client, int(name[8:])) == wanted


def test_records_spread_evenly_as_in_the_golden_second_generation() -> None:
    shards = golden("kcl/3.5.1/g5-second-generation/shards.json")["Shards"]
    records = golden("kcl/3.5.1/g5-second-generation/records.json")
    spread = described(shards, records)
    for row, (first, last) in zip(
        spread["shards"],
        [(10, 590), (10, 2390), (611, 1190), (611, 2991), (1211, 3591), (0, 0)],
        strict=True,
    ):
        row["records"] = {"n": len(row["records"]), "from": first, "to": last}
    client = load_topology(spread).client()
    for name, wanted in records.items():
        assert kept(client, int(name[8:])) == wanted


def test_the_clock_starts_where_the_topology_says() -> None:
    assert load_topology(SPLIT).clock.now() == CREATED + 3600
    later = {**SPLIT, "name": "later", "now": 7200}
    assert load_topology([SPLIT, later]).clock.now() == CREATED + 7200
    quiet = {key: value for key, value in SPLIT.items() if key != "now"}
    assert load_topology(quiet).clock.now() == CREATED + 2390 + 60


def test_trim_and_trimmed() -> None:
    fake = load_topology({**SPLIT, "trim": 700})
    assert list(listed(fake.client())) == [1, 2, 3]
    assert read(fake.client(), 1) == ["s1-1", "s1-2", "s1-3"]
    shards = [dict(row, trimmed=row["id"] == 0) for row in SPLIT["shards"]]
    assert list(listed(load_topology({**SPLIT, "shards": shards}).client())) == [1, 2, 3]


def test_a_child_without_a_known_parent_opens_where_it_says() -> None:
    row = {"id": 5, "range": ["0", "1"], "parents": [1, 2], "open": 600}
    fake = load_topology({"name": "orders", "created": CREATED, "shards": [row]})
    shard = listed(fake.client())[5]
    assert shard["ParentShardId"] == "shardId-000000000001"
    assert parse(shard["SequenceNumberRange"]["StartingSequenceNumber"]).time == CREATED + 601


def test_several_streams_and_kinds_of_files(tmp_path: Path) -> None:
    toml = tmp_path / "streams.toml"
    toml.write_text(
        "[[streams]]\nname = 'a'\ncreated = 1795232267\n"
        "[[streams.shards]]\nid = 0\nrange = ['0', '1']\n"
        "[[streams]]\nname = 'b'\ncreated = 1795232300\nregion = 'eu-west-1'\n"
        "[[streams.shards]]\nid = 0\nrange = ['0', '1']\n"
    )
    fake = load_topology(toml)
    assert fake.client().list_streams()["StreamNames"] == ["a"]
    assert fake.client(region_name="eu-west-1").list_streams()["StreamNames"] == ["b"]
    case = tmp_path / "case.json"
    case.write_text(json.dumps({"title": "a case", "stream": SPLIT}))
    assert len(listed(load_topology(str(case)).client())) == 4


@pytest.mark.parametrize("wrong", [
    [], {}, [SPLIT, SPLIT], {**SPLIT, "shards": [SPLIT["shards"][0]] * 2},
    {**SPLIT, "shards": [{"id": 0, "range": ["1/2", "1/2"]}]},
    {**SPLIT, "shards": [{"id": 0, "range": ["0", "2"]}]},
], ids=["no stream", "nothing", "a stream twice", "a shard twice", "an empty range",
        "more than all"])  # fmt: skip
def test_a_topology_that_makes_no_sense(wrong: Any) -> None:
    with pytest.raises(ValueError):
        load_topology(wrong)


def test_a_hole_in_the_topology_takes_no_records() -> None:
    fake: FakeKinesis = load_topology(
        {"name": "orders", "created": CREATED, "shards": [{"id": 0, "range": ["0", "1/2"]}]}
    )
    put = {"StreamName": "orders", "Data": b"x", "PartitionKey": "b"}
    assert refusal(fake.client().put_record, **put)[0] == "InternalFailure"


CASES = Path(__file__).parents[2] / "cases"


# A case without a stream table takes its stream from a table of its own.
FILES = [
    path for path in sorted(CASES.rglob("*.toml")) if "[stream]" in path.read_text(encoding="utf-8")
]
assert len(FILES) > 10


@by_case((path.parent.name, path.stem, (path,)) for path in FILES)
def test_a_cases_stream_is_listed_and_read_as_the_case_says(path: Path) -> None:
    """As the case format itself has it, in an independent reading."""
    stream = case_stream.filled(tomllib.loads(path.read_text(encoding="utf-8"))["stream"])
    shards = case_stream.resolve(stream)
    client = load_topology(stream).client()
    name = stream["name"]
    assert client.list_shards(StreamName=name)["Shards"] == case_stream.listing(shards)
    for number, shard in shards.items():
        if not shard.listed:
            continue
        horizon = stream["created"] + stream["trim"]
        wanted = [[n, payload] for n, payload, arrival in shard.records if arrival >= horizon]
        assert kept(client, number, name) == wanted
