"""SplitShard, MergeShards, UpdateShardCount: the stream is UPDATING, then all changes at once."""

from __future__ import annotations

from reshardctl.testing.errors import ApiError, invalid, no_such_shard, not_active, not_valid
from reshardctl.testing.requests import Answer, Request
from reshardctl.testing.reshard import Merge, Split, uniform_steps
from reshardctl.testing.service import Service, number_of
from reshardctl.testing.shards import Shard
from reshardctl.testing.stream import ON_DEMAND, Stream

_DAY = 86400


def split_shard(service: Service, request: Request) -> Answer:
    """SplitShard. The lower child gets the lower id."""
    stream = _stream(service, request)
    shard = _open_shard(stream, request.params["ShardToSplit"])
    at = int(request.params["NewStartingHashKey"])
    if not shard.low + 1 < at < shard.high:
        invalid(
            f"NewStartingHashKey {at} used in SplitShard() on shard {shard.id} in stream "
            f"{stream.name} under account {stream.account} is not both greater than one plus "
            f"the shard's StartingHashKey {shard.low} and less than the shard's EndingHashKey "
            f"{shard.high}."
        )
    stream.begin([Split(shard.number, at)], request.now, service.settings.reshard_seconds)
    return {}


def merge_shards(service: Service, request: Request) -> Answer:
    """MergeShards; refused if the lower shard is named second (kinesalite's tests against AWS)."""
    stream = _stream(service, request)
    lower = _open_shard(stream, request.params["ShardToMerge"])
    upper = _open_shard(stream, request.params["AdjacentShardToMerge"])
    if lower.high + 1 != upper.low:
        invalid(
            f"Shards {lower.id} and {upper.id} in stream {stream.name} under account "
            f"{stream.account} are not an adjacent pair of shards eligible for merging"
        )
    step = Merge(lower.number, upper.number)
    stream.begin([step], request.now, service.settings.reshard_seconds)
    return {}


def update_shard_count(service: Service, request: Request) -> Answer:
    """UpdateShardCount, UNIFORM_SCALING (limits: UpdateShardCount API reference)."""
    stream = _stream(service, request)
    pieces, target = stream.open_pieces(), request.params["TargetShardCount"]
    current = len(pieces)
    if target > 2 * current or 2 * target < current:
        invalid(
            "TargetShardCount must be between half and double the current open shard count. "
            f"Current open shard count: {current} Target shard count: {target}"
        )
    _count_update(service, stream, request.now)
    steps = uniform_steps(pieces, target, stream.free)
    if steps:
        stream.begin(steps, request.now, service.settings.reshard_seconds)
    return {
        "StreamName": stream.name,
        "StreamARN": stream.arn,
        "CurrentShardCount": current,
        "TargetShardCount": target,
    }


def _stream(service: Service, request: Request) -> Stream:
    stream = service.stream_of(request)
    if stream.status != "ACTIVE":
        not_active(stream.name, stream.account, stream.status)
    if stream.mode == ON_DEMAND:
        not_valid(
            f"{request.action} is only supported for the provisioned capacity mode; stream "
            f"{stream.name} under account {stream.account} is in the on-demand capacity mode."
        )
    return stream


def _open_shard(stream: Stream, shard_id: str) -> Shard:
    shard = stream.live(number_of(shard_id))
    if shard is None:
        no_such_shard(shard_id, stream.name, stream.account)
    if shard.closed is not None:
        invalid(
            f"Shard {shard.id} in stream {stream.name} under account {stream.account} "
            "is closed and cannot be resharded."
        )
    return shard


def _count_update(service: Service, stream: Stream, now: float) -> None:
    stream.count_updates = [then for then in stream.count_updates if now - then < _DAY]
    if len(stream.count_updates) >= service.settings.updates_per_day:
        raise ApiError(
            "LimitExceededException",
            f"Stream {stream.name} under account {stream.account} was scaled "
            f"{service.settings.updates_per_day} times in 24 hours.",
        )
    stream.count_updates.append(now)
