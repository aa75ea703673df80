"""A small streaming source for Kinesis, in Python, whose offsets say where each shard's batch ENDS.

Its offset is `{"shards": {"shardId-…": {"seq": "…", "end": false}}}`: the last record that is read
(empty: none yet), and whether the shard is read to its end. A child is admitted when all of its
parents that are listed are at their end. One class serves Spark 4.0 to 4.3: `latestOffset` takes no
start before 4.2, and then the newest end is what `partitions` or the last answer said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kinesis_http import Kinesis
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

Ends = dict[str, dict[str, Any]]
FORMAT = "kinesis-lineage"
_UNREAD = {"seq": "", "end": False}


class LineageSource(DataSource):
    """Options: `endpoint` and `streamName`."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return "shard STRING, sequence STRING, data STRING"

    def streamReader(self, schema: Any) -> LineageReader:  # noqa: ARG002, N802 - as Spark calls it
        return LineageReader(self.options["endpoint"], self.options["streamName"])


@dataclass
class Piece(InputPartition):
    """The records of one shard after one number, up to another."""

    shard: str
    after: str
    until: str


class LineageReader(DataSourceStreamReader):
    def __init__(self, endpoint: str, stream: str) -> None:
        self._kinesis = Kinesis(endpoint, stream)
        self._newest: dict[str, Ends] = {"shards": {}}

    def initialOffset(self) -> dict[str, Ends]:  # noqa: N802
        return {"shards": {}}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, Ends]:  # noqa: ARG002, N802
        known: Ends = dict((start or self._newest)["shards"])
        shards = self._kinesis.shards()
        listed = {shard["ShardId"] for shard in shards}
        for shard in shards:
            parents = {shard.get("ParentShardId"), shard.get("AdjacentParentShardId")} & listed
            if all(known.get(parent, _UNREAD)["end"] for parent in parents):
                known.setdefault(shard["ShardId"], _UNREAD)
        ends = {
            shard: self._end(shard, place) if shard in listed else place
            for shard, place in sorted(known.items())
        }
        self._newest = {"shards": ends}
        return self._newest

    def partitions(self, start: dict[str, Ends], end: dict[str, Ends]) -> list[InputPartition]:
        self._newest = end
        return [
            Piece(shard, start["shards"].get(shard, _UNREAD)["seq"], place["seq"])
            for shard, place in end["shards"].items()
            if place["seq"] != start["shards"].get(shard, _UNREAD)["seq"]
        ]

    def read(self, partition: InputPartition) -> Iterator[tuple[str, str, str]]:
        assert isinstance(partition, Piece)
        for record in self._kinesis.after(partition.shard, partition.after):
            if int(record.number) > int(partition.until):
                return
            yield partition.shard, record.number, record.payload

    def commit(self, end: dict[str, Ends]) -> None:
        """Nothing is kept outside of the checkpoint."""

    def _end(self, shard: str, place: dict[str, Any]) -> dict[str, Any]:
        if place["end"]:
            return place
        records = self._kinesis.after(shard, place["seq"])
        numbers = [record.number for record in records]
        seq = numbers[-1] if numbers else place["seq"]
        return {"seq": seq, "end": self._kinesis.ended(shard)}
