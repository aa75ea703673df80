"""`python -m benchmarks.records_loop WAY URL SHARD...`: read shards in a bare loop, drop the rows.

Reads a page of each first, then prints a line, waits for one, reads them all and prints how many
records it got, and its processor time for that. WAY is boto3, wire (our client) or http
(http.client, neither signed nor checked).
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

from reshardctl.kinesis.fast import Begin, FastReader, Reach
from reshardctl.kinesis.fast.columns import Columns

Pages = Iterator[int]
"""How many records each page had."""


def by_boto3(url: str) -> Callable[[str], Pages]:
    """boto3 as it comes."""
    client = boto3.client("kinesis", endpoint_url=url)

    def pages(shard: str) -> Pages:
        asked = {"StreamName": "bench", "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        iterator = client.get_shard_iterator(**asked)["ShardIterator"]
        while True:
            answer = client.get_records(ShardIterator=iterator, Limit=10_000)
            yield len([record["Data"] for record in answer["Records"]])
            if answer["MillisBehindLatest"] == 0:
                return
            iterator = answer["NextShardIterator"]

    return pages


def by_wire(url: str) -> Callable[[str], Pages]:
    """Our client, without Arrow and without Spark."""
    reader = FastReader(Reach("us-east-1", url), "bench")

    def pages(shard: str) -> Pages:
        for page in reader.after(shard, Begin("TRIM_HORIZON"), None):
            found = page.records
            texts = found.data if isinstance(found, Columns) else [one["Data"] for one in found]
            yield len([b64decode(text) for text in texts])

    return pages


def by_http(url: str) -> Callable[[str], Pages]:
    """As little as can be."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"))

    def call(action: str, **words: Any) -> Any:
        headers = {
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": f"Kinesis_20131202.{action}",
        }
        connection.request("POST", "/", json.dumps(words), headers)
        return json.loads(connection.getresponse().read())

    def pages(shard: str) -> Pages:
        asked = {"StreamName": "bench", "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
        iterator = call("GetShardIterator", **asked)["ShardIterator"]
        while True:
            answer = call("GetRecords", ShardIterator=iterator, Limit=10_000)
            yield len([b64decode(record["Data"]) for record in answer["Records"]])
            if answer["MillisBehindLatest"] == 0:
                return
            iterator = answer["NextShardIterator"]

    return pages


WAYS = {"boto3": by_boto3, "wire": by_wire, "http": by_http}


if __name__ == "__main__":
    way, url, *shards = sys.argv[1:]
    pages = WAYS[way](url)
    for shard in shards:
        next(pages(shard))
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.process_time()
    print(sum(sum(pages(shard)) for shard in shards), time.process_time() - began, flush=True)
