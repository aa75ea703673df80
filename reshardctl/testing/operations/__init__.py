"""The API actions: one function each, over parameters and answers in AWS's shapes."""

from __future__ import annotations

from collections.abc import Callable

from reshardctl.testing.operations import (
    iterators,
    listing,
    reading,
    resharding,
    retention,
    streams,
    writing,
)
from reshardctl.testing.requests import Answer, Request
from reshardctl.testing.service import Service

OPERATIONS: dict[str, Callable[[Service, Request], Answer]] = {
    "CreateStream": streams.create_stream,
    "DeleteStream": streams.delete_stream,
    "DescribeLimits": streams.describe_limits,
    "DescribeStream": streams.describe_stream,
    "DescribeStreamSummary": streams.describe_stream_summary,
    "ListStreams": streams.list_streams,
    "ListShards": listing.list_shards,
    "GetShardIterator": iterators.get_shard_iterator,
    "GetRecords": reading.get_records,
    "PutRecord": writing.put_record,
    "PutRecords": writing.put_records,
    "SplitShard": resharding.split_shard,
    "MergeShards": resharding.merge_shards,
    "UpdateShardCount": resharding.update_shard_count,
    "IncreaseStreamRetentionPeriod": retention.increase_retention,
    "DecreaseStreamRetentionPeriod": retention.decrease_retention,
}

MUTATING = frozenset(
    {
        "CreateStream",
        "DeleteStream",
        "PutRecord",
        "PutRecords",
        "SplitShard",
        "MergeShards",
        "UpdateShardCount",
        "IncreaseStreamRetentionPeriod",
        "DecreaseStreamRetentionPeriod",
    }
)
"""Actions that change a stream; a test asserts that none of them was called."""
