"""What the source asks of Kinesis: ListShards, GetShardIterator, GetRecords, as plain HTTP."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Record:
    number: str
    payload: str


@dataclass
class Kinesis:
    """One stream behind an endpoint; can be pickled."""

    endpoint: str
    stream: str
    _ended: set[str] = field(default_factory=set)

    def shards(self) -> list[dict[str, Any]]:
        """Every listed shard (one page: the streams here are small)."""
        answer = self._call("ListShards", {"StreamName": self.stream})
        assert "NextToken" not in answer
        found: list[dict[str, Any]] = answer["Shards"]
        return found

    def after(self, shard: str, number: str) -> Iterator[Record]:
        """The records after this one (all for ""), up to the tip or the shard's end."""
        where = {"ShardIteratorType": "TRIM_HORIZON"}
        if number:
            where = {
                "ShardIteratorType": "AFTER_SEQUENCE_NUMBER",
                "StartingSequenceNumber": number,
            }
        asked = {"StreamName": self.stream, "ShardId": shard, **where}
        iterator = self._call("GetShardIterator", asked)["ShardIterator"]
        while iterator is not None:
            answer = self._call("GetRecords", {"ShardIterator": iterator})
            for record in answer["Records"]:
                payload = base64.b64decode(record["Data"]).decode()
                yield Record(record["SequenceNumber"], payload)
            iterator = answer.get("NextShardIterator")
            if iterator is not None and answer["MillisBehindLatest"] == 0:
                return
        self._ended.add(shard)

    def ended(self, shard: str) -> bool:
        """Whether a read has come to the shard's end."""
        return shard in self._ended

    def _call(self, action: str, asked: dict[str, Any]) -> dict[str, Any]:
        connection = HTTPConnection(urlsplit(self.endpoint).netloc, timeout=30)
        headers = {
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": f"Kinesis_20131202.{action}",
        }
        try:
            connection.request("POST", "/", json.dumps(asked), headers)
            answer = connection.getresponse()
            found: dict[str, Any] = json.load(answer)
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{action}: {found}")
        return found
