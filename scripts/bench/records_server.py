"""`python -m scripts.bench.records_server RECORDS SHARDS BYTES`: a Kinesis with ready-made records.

A stream "bench" of open shards. Every record is encoded before the first call, so that an answer
is two slices and a send. A POST to /visible with a number lets so many records of each shard be
seen (all, at first); a GET of /asked tells how often each action was called, and begins anew. Of
the calls of GetRecords, "looks" are those for one record, or of iterators that began by time.
Prints its port. It ends with its standard input.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import ceil
from typing import Any, ClassVar

from scripts.bench.server import ARN

CREATED = int(time.time()) - 4 * 3600
"""Unix seconds."""
WRITTEN_FOR = 3600.0
"""Seconds over which the records arrived, the last of them a few seconds ago."""
LONGEST_PAGE, PAGE_BYTES = 10_000, 10_000_000
"""Records, and bytes of data (GetRecords API reference)."""
HASHES = 1 << 128


def number(shard: int, index: int, second: int) -> int:
    """A sequence number as AWS makes them; index 0 is the shard's beginning."""
    prefix = 2 << 184 | (CREATED - 3) << 148 | (shard & 15) << 144
    return prefix | index << 80 | second << 36 | shard << 4 | 2


class Shard:
    """Records as the text of a JSON array."""

    def __init__(self, shard: int, count: int, size: int) -> None:
        self.shard, self.count, self.visible = shard, count, count
        self.per_page = min(LONGEST_PAGE, PAGE_BYTES // size)
        self.began = time.time() - WRITTEN_FOR - 5
        self.step = WRITTEN_FOR / count
        noise = base64.b64encode(os.urandom(3 * size + 30_000)).decode()
        length = 4 * ((size + 2) // 3)
        pad = "=" * (-size % 3)
        parts, places, at = [], [0], 0
        for n in range(count):
            data = noise[4 * (n % 7500) :][: length - len(pad)] + pad
            text = (
                f'{{"SequenceNumber":"{self.number(n)}","ApproximateArrivalTimestamp":'
                f'{self.arrival(n):.3f},"Data":"{data}","PartitionKey":"key-{n % 50_000}"}},'
            )
            at += len(text)
            parts.append(text)
            places.append(at)
        self.text, self.places = "".join(parts).encode(), places

    def arrival(self, n: int) -> float:
        """Unix seconds."""
        return self.began + n * self.step

    def number(self, n: int) -> int:
        """Of record n, from 0."""
        return number(self.shard, n + 1, int(self.arrival(n)))

    def place(self, asked: dict[str, Any]) -> int:
        """Where an iterator begins."""
        match asked["ShardIteratorType"]:
            case "TRIM_HORIZON":
                return 0
            case "LATEST":
                return self.visible
            case "AT_TIMESTAMP":
                later = max(0.0, float(asked["Timestamp"]) - self.began)
                return min(self.visible, ceil(later / self.step))
            case kind:
                index = int(asked["StartingSequenceNumber"]) >> 80 & (1 << 64) - 1
                return index if kind == "AFTER_SEQUENCE_NUMBER" else index - 1

    def page(self, place: int, limit: int, kind: str) -> list[bytes | memoryview]:
        """An answer, in parts. kind: of the iterator, and of the one that follows."""
        end = min(self.visible, place + min(limit, self.per_page))
        left = self.visible - end
        behind = int(1000 * (time.time() - self.arrival(end))) if left else 0
        tail = f'],"NextShardIterator":"{self.shard}:{end}:{kind:A<200}","MillisBehindLatest":'
        records = memoryview(self.text)[self.places[place] : max(self.places[end] - 1, 0)]
        empty = end <= place
        return [b'{"Records":[', b"" if empty else records, f"{tail}{behind}}}".encode()]

    def listed(self, shards: int) -> dict[str, Any]:
        """Its entry in ListShards."""
        low, high = (n * HASHES // shards for n in (self.shard, self.shard + 1))
        return {
            "ShardId": f"shardId-{self.shard:012d}",
            "HashKeyRange": {"StartingHashKey": str(low), "EndingHashKey": str(high - 1)},
            "SequenceNumberRange": {
                "StartingSequenceNumber": str(number(self.shard, 0, CREATED - 3))
            },
        }


class Exchange(BaseHTTPRequestHandler):
    """Answers what a reader asks."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    shards: list[Shard]
    asked: ClassVar[Counter[str]] = Counter()

    def do_GET(self) -> None:
        found = dict(self.asked)
        self.asked.clear()
        self._send([json.dumps(found).encode()])

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/visible":
            for shard in self.shards:
                shard.visible = min(shard.count, int(body))
            return self._send([b"{}"])
        action = self.headers["X-Amz-Target"].partition(".")[2]
        self.asked[action] += 1
        return self._send(getattr(self, action)(json.loads(body)))

    def GetRecords(self, asked: dict[str, Any]) -> list[bytes | memoryview]:  # noqa: N802
        shard, place, kind = asked["ShardIterator"].split(":")
        limit = asked.get("Limit", LONGEST_PAGE)
        self.asked["looks"] += limit == 1 or kind.startswith("AT_TIMESTAMP")
        return self.shards[int(shard)].page(int(place), limit, kind)

    def GetShardIterator(self, asked: dict[str, Any]) -> list[bytes | memoryview]:  # noqa: N802
        shard = int(asked["ShardId"][-12:])
        iterator = f"{shard}:{self.shards[shard].place(asked)}:{asked['ShardIteratorType']}"
        return [json.dumps({"ShardIterator": iterator}).encode()]

    def ListShards(self, asked: dict[str, Any]) -> list[bytes | memoryview]:  # noqa: ARG002, N802
        shards = [one.listed(len(self.shards)) for one in self.shards]
        return [json.dumps({"Shards": shards}).encode()]

    def ListStreams(self, asked: dict[str, Any]) -> list[bytes | memoryview]:  # noqa: ARG002, N802
        return [json.dumps({"StreamNames": ["bench"], "HasMoreStreams": False}).encode()]

    def DescribeStreamSummary(self, asked: dict[str, Any]) -> list[bytes | memoryview]:  # noqa: ARG002, N802
        summary = {
            "StreamName": "bench", "StreamARN": ARN, "StreamStatus": "ACTIVE",
            "RetentionPeriodHours": 24, "StreamCreationTimestamp": float(CREATED),
            "OpenShardCount": len(self.shards),
        }  # fmt: skip
        return [json.dumps({"StreamDescriptionSummary": summary}).encode()]

    def _send(self, parts: list[bytes | memoryview]) -> None:
        length = sum(map(len, parts))
        head = (
            "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.1\r\n"
            f"Content-Length: {length}\r\n\r\n"
        )
        self.connection.sendall(head.encode() + bytes(parts[0]))
        for part in parts[1:]:
            self.connection.sendall(part)

    def log_message(self, template: str, *args: object) -> None:
        """Quiet."""


if __name__ == "__main__":
    records, shards, size = map(int, sys.argv[1:])
    Exchange.shards = [Shard(n, records // shards, size) for n in range(shards)]
    http = ThreadingHTTPServer(("127.0.0.1", 0), Exchange)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    print(http.server_address[1], flush=True)
    sys.stdin.read()
