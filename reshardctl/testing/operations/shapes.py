"""Answers in AWS's shapes."""

from __future__ import annotations

from reshardctl.testing.requests import Answer
from reshardctl.testing.shards import Record, Shard, shard_id


def hash_range(shard: Shard) -> Answer:
    """A HashKeyRange."""
    return {"StartingHashKey": str(shard.low), "EndingHashKey": str(shard.high)}


def listed_shard(shard: Shard, closed: bool) -> Answer:
    """A Shard of ListShards and DescribeStream."""
    numbers = {"StartingSequenceNumber": str(shard.starting)}
    if closed:
        numbers["EndingSequenceNumber"] = str(shard.ending)
    answer: Answer = {
        "ShardId": shard.id,
        "HashKeyRange": hash_range(shard),
        "SequenceNumberRange": numbers,
    }
    if shard.parents:
        answer["ParentShardId"] = shard_id(shard.parents[0])
    if len(shard.parents) > 1:
        answer["AdjacentParentShardId"] = shard_id(shard.parents[1])
    return answer


def child_shard(shard: Shard) -> Answer:
    """A ChildShard of GetRecords."""
    return {
        "ShardId": shard.id,
        "ParentShards": [shard_id(parent) for parent in shard.parents],
        "HashKeyRange": hash_range(shard),
    }


def record(stored: Record) -> Answer:
    """A Record of GetRecords."""
    return {
        "SequenceNumber": str(stored.number),
        "ApproximateArrivalTimestamp": round(stored.arrival, 3),
        "Data": stored.payload,
        "PartitionKey": stored.key,
    }
