"""Answers split at their quotes: what JSON says of them, or nothing."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshardctl.kinesis.fast import columns as splitting
from reshardctl.kinesis.fast.columns import scan


def answer(records: list[dict[str, Any]], **more: Any) -> bytes:
    members = {"Records": records, "NextShardIterator": "AAA=", "MillisBehindLatest": 5, **more}
    return dumped(members)


def dumped(members: dict[str, Any]) -> bytes:
    return json.dumps(members, separators=(",", ":"), ensure_ascii=False).encode()


def record(n: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "SequenceNumber": f"4968{n}", "ApproximateArrivalTimestamp": 1795232277.123,
        "Data": "czAtMA==", "PartitionKey": f"k{n}", **more,
    }  # fmt: skip


SWAPPED = ("SequenceNumber", "ApproximateArrivalTimestamp", "PartitionKey", "Data")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["Data", "}", "},{", "}]", "null", "Records", '"', "\\", ":", ",", "SequenceNumber"]
)
RECORD = st.fixed_dictionaries(
    {
        "SequenceNumber": st.integers(0, 10**56).map(str),
        "ApproximateArrivalTimestamp": st.floats(0, 1e10) | st.integers(0, 10**10),
        "Data": st.sampled_from(["", "czA=", "AAAA"]),
        "PartitionKey": TEXT,
    },
    optional={"EncryptionType": st.sampled_from(["KMS", "NONE"])},
)


OTHERS: list[dict[str, Any]] = [
    {},
    {"ChildShards": [
        {"ShardId": "s", "ParentShards": ["a", "b"]}, {"ShardId": "t", "ParentShards": ["a"]}]},
    {"Records2": [record(7), record(8)]},
    {"SequenceNumber": "", "Data": "", "PartitionKey": [record(7), record(8)]},
]  # fmt: skip


@given(
    st.lists(RECORD, max_size=5), st.booleans(), st.sampled_from(OTHERS), st.booleans(),
    st.sampled_from([1, 100, 300, 1 << 18]),
)  # fmt: skip
def test_what_is_read_is_what_json_says(
    records: list[dict[str, Any]], turned: bool, more: dict[str, Any], first: bool, part: int
) -> None:
    """However long the parts are, and with the other members before or behind the records."""
    if turned:
        records = [dict(reversed(one.items())) for one in records]
    body = answer(records, **more)
    if first:
        members = json.loads(body)
        body = dumped(dict(reversed(members.items())))
    with patch.object(splitting, "_PART", part):
        found = scan(body)
    if found is None:
        return
    columns, others = found
    expected = json.loads(body)
    assert list(columns) == [
        {name: one[name] for name in columns[0]} for one in expected.pop("Records")
    ]
    expected["Records"] = []
    assert others == expected


@pytest.mark.parametrize("count", [1, 2, 500, 5000])
def test_what_the_service_sends_is_read(count: int) -> None:
    """Members in the order of the GetRecords API reference's example; kinesalite's is the same."""
    found = scan(answer([record(n) for n in range(count)]))
    assert found is not None
    assert [one["PartitionKey"] for one in found[0]] == [f"k{n}" for n in range(count)]
    assert list(found[0][:1]) == [record(0)]
    assert found[1]["MillisBehindLatest"] == 5


def test_an_encrypted_stream_and_the_end_of_a_shard_are_read() -> None:
    children = [{"ShardId": "s", "ParentShards": ["a", "b"]}]
    body = answer([record(n, EncryptionType="KMS") for n in range(3)], ChildShards=children)
    found = scan(body)
    assert found is not None and found[1]["ChildShards"] == children
    assert dict(record(2)) == found[0][2]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{}", b"nothing", b'{"Records":[]}', answer([]),
        answer([record(1), record(2, EncryptionType="KMS")]),
        answer([record(1), record(2, ApproximateArrivalTimestamp=None)]),
        answer([record(1, PartitionKey='a"b')]),
        answer([record(1, PartitionKey="a\\b")]),
        answer([record(1), dict(reversed(record(2).items()))]),
        answer([record(1)])[:-40],
        answer([{**record(n), "PartitionKey": "k", "Later": n} for n in range(3)]),
        answer([record(1), record(2)]).replace(b":1795", b": 1795"),
        answer([record(1), record(2)]).replace(b":1795232277.123", b":1.795232277123e9"),
        answer([record(n) for n in range(9000)] + [record(1, EncryptionType="KMS")]),
        answer([record(1), {**record(2), "PartitionKey": None}]),
        answer([record(1), {**record(2), "PartitionKey": 5}]),
        dumped({"Old": {"Records": [record(1)]}, "Records": [record(2)]}),
        answer([record(1), {name: record(2)[name] for name in SWAPPED}]),
        answer([record(1), record(2)]).replace(b"},{", b"}},{"),
    ],
    ids=range(20),
)  # fmt: skip
def test_what_is_not_alike_is_left_to_json(body: bytes) -> None:
    assert scan(body) is None
