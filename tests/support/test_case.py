"""The case loader against recorded streams, and its hand-made repairs attribute by attribute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.case import CASES, Case, load
from tests.support.case_stream import filled, listing, resolve

GOLDEN = Path(__file__).parents[1] / "golden" / "kcl" / "3.5.1"

# The streams under the recorded lease tables, read off their numbers.
SECOND_GENERATION: dict[str, Any] = {
    "created": 1795232267,
    "now": 3600,
    "shards": [
        {"id": 0, "range": ["0", "1/2"], "open": 0, "close": 600, "records": [4, 10, 590]},
        {"id": 1, "range": ["1/2", "1"], "open": 0, "records": [4, 10, 2390]},
        {"id": 2, "range": ["0", "1/4"], "parents": [0], "open": 601, "close": 1200,
         "records": [4, 611, 1190]},
        {"id": 3, "range": ["1/4", "1/2"], "parents": [0], "open": 601,
         "records": [4, 611, 2991]},
        {"id": 4, "range": ["0", "1/8"], "parents": [2], "open": 1201,
         "records": [4, 1211, 3591]},
        {"id": 5, "range": ["1/8", "1/4"], "parents": [2], "open": 1201},
    ],
}  # fmt: skip
MERGE: dict[str, Any] = {
    "created": 1795232251,
    "now": 3600,
    "shards": [
        {"id": 0, "range": ["0", "1/2"], "open": 0, "close": 600, "records": [4, 10, 590]},
        {"id": 1, "range": ["1/2", "1"], "open": 0, "close": 600, "records": [4, 10, 590]},
        {"id": 2, "range": ["0", "1"], "parents": [0, 1], "open": 601, "records": [4, 611, 2991]},
    ],
}


@pytest.mark.parametrize(
    ("recorded", "stream"),
    [("g5-second-generation", SECOND_GENERATION), ("g4-merge-one-parent-finished", MERGE)],
)
def test_numbers_are_those_of_the_recorded_stream(recorded: str, stream: dict[str, Any]) -> None:
    """Source: shards.json and records.json beside the lease tables that KCL 3.5.1 wrote."""
    table = {**stream, "shards": [dict(shard) for shard in stream["shards"]]}
    for shard in table["shards"]:
        if "records" in shard:
            shard["records"] = dict(zip(("n", "from", "to"), shard["records"], strict=True))
    shards = resolve(filled(table))
    assert listing(shards) == _read(recorded, "shards.json")["Shards"]
    for name, held in _read(recorded, "records.json").items():
        ours = [[number, payload] for number, payload, _ in shards[int(name[-12:])].records]
        assert ours == held


def _read(recorded: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / recorded / name).read_text(encoding="utf-8"))
    return found


def _case(name: str) -> Case:
    return load(CASES / "kcl" / f"{name}.toml")


def _row(items: list[dict[str, Any]], shard: int) -> dict[str, Any]:
    return {item["leaseKey"]["S"]: item for item in items}[f"shardId-{shard:012d}"]


def test_a_created_row_is_what_kcl_itself_creates() -> None:
    """Source: shard 5 of the recorded second generation, less what a running worker adds."""
    case = _case("a-both")
    created = _row(case.with_writes({2: "TRIM_HORIZON", 3: "TRIM_HORIZON"}), 2)
    recorded = next(
        item
        for item in _read("g5-second-generation", "leases.json")["Items"]
        if item["leaseKey"]["S"] == "shardId-000000000005"
    )
    assert set(created) == set(recorded) - {"leaseOwner", "entityType"}
    assert created == {
        "leaseKey": {"S": "shardId-000000000002"},
        "leaseCounter": {"N": "0"},
        "ownerSwitchesSinceCheckpoint": {"N": "0"},
        "checkpoint": {"S": "TRIM_HORIZON"},
        "checkpointSubSequenceNumber": {"N": "0"},
        "parentShardId": {"SS": ["shardId-000000000000"]},
        "startingHashKey": {"S": "0"},
        "endingHashKey": {"S": str(2**126 - 1)},
    }


def test_a_moved_row_keeps_what_it_has_and_loses_owner_and_pending() -> None:
    """Source: KCL 3.5.1 DynamoDBLeaseSerializer, the updates for eviction and checkpoints."""
    case = _case("pending-checkpoint")
    before, after = _row(case.rows, 0), _row(case.with_writes({0: "SHARD_END"}), 0)
    lost = {"leaseOwner", "pendingCheckpoint", "pendingCheckpointSubSequenceNumber"}
    assert set(before) - set(after) == lost
    assert after["leaseCounter"] == {"N": "8"}
    assert after["checkpoint"] == {"S": "SHARD_END"}
    assert after["childShardIds"] == {"SS": ["shardId-000000000002", "shardId-000000000003"]}
    assert after["startingHashKey"] == before["startingHashKey"]


def test_a_mended_row_keeps_its_position_and_counter() -> None:
    case = _case("row-parents-list-unread")
    before, after = _row(case.rows, 2), _row(case.with_writes({2: "same"}), 2)
    assert after == before | {"parentShardId": {"SS": ["shardId-000000000000"]}}


def test_a_trimmed_parent_is_named_only_while_its_row_is_there() -> None:
    case = _case("d2")
    assert "parentShardId" in _row(case.with_writes({2: "TRIM_HORIZON"}), 2)
    assert "parentShardId" not in _row(case.with_writes({0: "delete", 2: "TRIM_HORIZON"}), 2)


def test_rows_and_foreign_items_make_the_table() -> None:
    case = _case("foreign-rows")
    assert case.items() == [*case.rows, *case.foreign]
    assert case.with_writes({}) == case.items()
    assert case.payload_of(case.number_of("s2-1")) == "s2-1"


@pytest.mark.parametrize(
    ("spelt", "misspelt"),
    [
        ("title =", "titel ="),
        ("checkpoint = ", "chekpoint = "),
        ("delivers = ", "deliver = "),
        ("findings = [", 'findings = ["RSH2x", '),
        ("now = ", "nwo = "),
        ("writes = ", "write = "),
        ("open = 601", "open = 602"),
        ('checkpoint = "s1-1"', 'checkpoint = "s1-9"'),
        ('{ "1" = [', '{ "9" = ['),
    ],
)
def test_a_misspelt_case_is_refused(tmp_path: Path, spelt: str, misspelt: str) -> None:
    text = (CASES / "kcl" / "a-both.toml").read_text(encoding="utf-8")
    assert spelt in text
    path = tmp_path / "wrong.toml"
    path.write_text(text.replace(spelt, misspelt, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=r"wrong\.toml"):
        load(path)
