"""`python -m scripts.bench.records_loop WAY URL SHARD...`: read shards in a bare loop.

Reads a page of each first, then prints a line, waits for one, reads them all and prints how many
records it got, and its processor time for that. WAY is

- boto3: boto3 as it comes, the rows are dropped;
- boto3-rows: the same, and the rows of a page become an Arrow batch with the source's columns;
- plain-rows: the same rows by http.client, botocore's signature, json and base64;
- ours-rows: the same rows by what the source reads with;
- http: http.client, json and base64, unsigned, the rows are dropped.
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pyarrow as pa
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

from reshardctl.kinesis.fast import Begin, FastReader, Reach
from reshardctl.spark.records import ARROW, batch_of

Pages = Iterator[int]
"""How many records each page had."""


Call = Callable[..., Any]
"""An action of Kinesis by its name."""


def dropped(records: list[dict[str, Any]], shard: str) -> int:  # noqa: ARG001
    """All that is decoded is thrown away; boto3 has decoded it already."""
    return len([_decoded(record["Data"]) for record in records])


def kept(records: list[dict[str, Any]], shard: str) -> int:
    """What a loop does that hands rows on."""
    moments = [record["ApproximateArrivalTimestamp"] for record in records]
    if moments and isinstance(moments[0], float):
        moments = [round(1e6 * moment) for moment in moments]
    count = len(records)
    arrays = [
        pa.array([_decoded(record["Data"]) for record in records], pa.binary()),
        pa.array([record["PartitionKey"] for record in records]),
        pa.array([record["SequenceNumber"] for record in records]),
        pa.repeat(pa.scalar(0, pa.int64()), count),
        pa.repeat(shard, count),
        pa.repeat("bench", count),
        pa.array(moments, pa.timestamp("us", "UTC")),
    ]
    return int(pa.RecordBatch.from_arrays(arrays, schema=ARROW).num_rows)


def _decoded(data: bytes | str) -> bytes:
    return data if isinstance(data, bytes) else b64decode(data)


def by_boto3(url: str) -> Call:
    """boto3 as it comes."""
    client = boto3.client("kinesis", endpoint_url=url)
    actions = {"GetShardIterator": client.get_shard_iterator, "GetRecords": client.get_records}
    return lambda action, **words: actions[action](**words)


def by_http(url: str, *, signed: bool = False) -> Call:
    """http.client on one connection, and the JSON parser."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"))
    signer = SigV4Auth(boto3.Session().get_credentials(), "kinesis", "us-east-1")

    def call(action: str, **words: Any) -> Any:
        body = json.dumps(words)
        headers = {
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": f"Kinesis_20131202.{action}",
        }
        if signed:
            request = AWSRequest("POST", f"{url}/", headers, body)
            signer.add_auth(request)
            headers = dict(request.headers)
        connection.request("POST", "/", body, headers)
        return json.loads(connection.getresponse().read())

    return call


def loop(call: Call, rows: Callable[[list[dict[str, Any]], str], int]) -> Callable[[str], Pages]:
    """A shard from its beginning to its tip."""

    def pages(shard: str) -> Pages:
        asked = {"StreamName": "bench", "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        iterator = call("GetShardIterator", **asked)["ShardIterator"]
        while True:
            answer = call("GetRecords", ShardIterator=iterator, Limit=10_000)
            yield rows(answer["Records"], shard)
            if answer["MillisBehindLatest"] == 0:
                return
            iterator = answer["NextShardIterator"]

    return pages


def by_ours(url: str) -> Callable[[str], Pages]:
    """What the source's tasks do, without Spark."""
    reader = FastReader(Reach("us-east-1", url), "bench")

    def pages(shard: str) -> Pages:
        for page in reader.after(shard, Begin("TRIM_HORIZON"), None):
            yield int(batch_of(page.records, shard, "bench", unpack=True).num_rows)

    return pages


WAYS: dict[str, Callable[[str], Callable[[str], Pages]]] = {
    "boto3": lambda url: loop(by_boto3(url), dropped),
    "boto3-rows": lambda url: loop(by_boto3(url), kept),
    "plain-rows": lambda url: loop(by_http(url, signed=True), kept),
    "ours-rows": by_ours,
    "http": lambda url: loop(by_http(url), dropped),
}


if __name__ == "__main__":
    way, url, *shards = sys.argv[1:]
    pages = WAYS[way](url)
    for shard in shards:
        next(pages(shard))
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.process_time()
    print(sum(sum(pages(shard)) for shard in shards), time.process_time() - began, flush=True)
