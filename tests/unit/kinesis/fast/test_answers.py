"""GetRecords answers: what JSON says of them, or left to botocore."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.hooks import HierarchicalEmitter
from hypothesis import given
from hypothesis import strategies as st

from reshardctl.kinesis.fast import Record, keep_records_raw, records_of

CLIENT = SimpleNamespace(meta=SimpleNamespace(events=HierarchicalEmitter()))
keep_records_raw(CLIENT)


def taken(body: bytes, status: int = 200) -> dict[str, Any]:
    """What becomes part of botocore's answer; nothing if the body is left to it."""
    response = {"status_code": status, "headers": {}, "body": body}
    members: dict[str, Any] = {}
    CLIENT.meta.events.emit(
        "before-parse.kinesis.GetRecords", response_dict=response, customized_response_dict=members
    )
    assert response["body"] == (b"{}" if members else body)
    return members


def dumped(members: dict[str, Any]) -> bytes:
    return json.dumps(members, separators=(",", ":"), ensure_ascii=False).encode()


def answer(records: list[dict[str, Any]], **more: Any) -> bytes:
    members = {"Records": records, "NextShardIterator": "AAA=", "MillisBehindLatest": 5, **more}
    return dumped(members)


def record(n: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "SequenceNumber": f"4968{n}", "ApproximateArrivalTimestamp": 1795232277.123,
        "Data": "czAtMA==", "PartitionKey": f"k{n}", **more,
    }  # fmt: skip


def expected(raw: dict[str, Any]) -> Record:
    return Record(
        raw["SequenceNumber"], b64decode(raw["Data"]), raw["PartitionKey"],
        raw.get("ApproximateArrivalTimestamp"),
    )  # fmt: skip


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6) | st.sampled_from(
    ["Data", "}", "},{", "}]", "null", "Records", '"', "\\", ":", ",", "SequenceNumber"]
)
RECORD = st.fixed_dictionaries(
    {
        "SequenceNumber": st.integers(0, 10**56).map(str),
        "ApproximateArrivalTimestamp": st.floats(0, 1e10) | st.integers(0, 10**10) | st.none(),
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
    {"Old": {"Records": [record(1)]}},
]  # fmt: skip


@given(st.lists(RECORD, max_size=5), st.booleans(), st.sampled_from(OTHERS), st.booleans())
def test_what_is_read_is_what_json_says(records, turned, more, first):
    """In whatever order, and with the other members before or behind the records."""
    if turned:
        records = [dict(reversed(one.items())) for one in records]
    body = answer(records, **more)
    if first:
        body = dumped(dict(reversed(json.loads(body).items())))
    assert taken(body) == {
        "Records": [expected(one) for one in records], "NextShardIterator": "AAA=",
        "MillisBehindLatest": 5,
    }  # fmt: skip


@pytest.mark.parametrize("count", [0, 1, 2, 500, 5000])
def test_what_the_service_sends_is_read(count: int) -> None:
    """Members in the order of the GetRecords API reference's example; kinesalite's is the same."""
    records = [record(n) for n in range(count)]
    assert taken(answer(records))["Records"] == [expected(one) for one in records]


def test_the_end_of_a_shard_is_read() -> None:
    body = dumped({"Records": [], "ChildShards": [], "MillisBehindLatest": 0})
    assert taken(body) == {"Records": [], "NextShardIterator": None, "MillisBehindLatest": 0}


@pytest.mark.parametrize("body", [
    answer([record(1, PartitionKey='a"b')]), answer([record(1, PartitionKey="a\\b")]),
    answer([record(1), record(2, ApproximateArrivalTimestamp=None)]),
    answer([record(1), dict(reversed(record(2).items()))]),
    answer([{**record(n), "PartitionKey": "k", "Later": n} for n in range(3)]),
    answer([record(1), record(2)]).replace(b":1795", b": 1795"),
    answer([record(1), record(2)]).replace(b":1795232277.123", b":1.795232277123e9"),
], ids=range(7))  # fmt: skip
def test_what_is_not_alike_is_read_as_well(body: bytes) -> None:
    assert taken(body)["Records"] == [expected(one) for one in json.loads(body)["Records"]]


@pytest.mark.parametrize("body", [
    b"", b"{}", b"nothing", b"[]", b"7", b'{"Records":null}', b'{"Records":[5]}',
    answer([record(1)])[:-40],
    answer([record(1), {**record(2), "PartitionKey": None}]),
    answer([record(1), {**record(2), "PartitionKey": 5}]),
    answer([record(1, Data="a")]),
    answer([record(1, Data="YQ==\n")]),
    answer([record(1), record(2)]).replace(b"},{", b"}},{"),
    answer([record(1)]).replace(b"k1", b"\\ud800"),
], ids=range(14))  # fmt: skip
def test_what_is_not_as_the_service_writes_it_is_left_to_botocore(body: bytes) -> None:
    assert taken(body) == {}
    assert taken(answer([record(1)]), status=400) == {}, "an error"


def test_records_that_botocore_has_parsed_are_brought_into_this_form() -> None:
    moment = datetime(2026, 11, 22, 6, 0, 0, 123000, UTC)
    parsed = {"Data": b"\x00x", "SequenceNumber": "1", "PartitionKey": "k"}
    with_time, bare, odd = records_of(
        [parsed | {"ApproximateArrivalTimestamp": moment}, parsed,
         parsed | {"PartitionKey": "a\ud800"}]
    )  # fmt: skip
    assert with_time == Record("1", b"\x00x", "k", moment.timestamp())
    assert bare == Record("1", b"\x00x", "k", None)
    assert odd.partition_key == "a?"
    assert records_of([bare]) == [bare] and records_of([]) == []
