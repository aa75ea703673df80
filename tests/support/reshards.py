"""Reshards really made on a fake, named as `--if-reshard` names them."""

from __future__ import annotations

from reshardctl.testing import FakeKinesis

SPACE = 2**128


def reshard(fake: FakeKinesis, stream: str, word: str) -> None:
    """Ask the service for it, and wait until it is over."""
    client = fake.client()
    kind, _, rest = word.partition("=")
    if kind == "split":
        shard, _, key = rest.partition("@")
        client.split_shard(
            StreamName=stream, ShardToSplit=name(shard),
            NewStartingHashKey=key or str(middle(fake, stream, shard)),
        )
    elif kind == "merge":
        lower, upper = rest.split(",")
        client.merge_shards(
            StreamName=stream, ShardToMerge=name(lower), AdjacentShardToMerge=name(upper)
        )
    else:
        client.update_shard_count(
            StreamName=stream, TargetShardCount=int(word), ScalingType="UNIFORM_SCALING"
        )
    fake.settle()


def name(shard: str) -> str:
    return f"shardId-{int(shard):012d}"


def middle(fake: FakeKinesis, stream: str, shard: str) -> int:
    """The even split, as the Developer Guide's example computes it from both ends of the range."""
    found = fake.stream(stream).shards[int(shard)]
    return (found.low + found.high + 1) // 2
