"""Actions on streams: create, delete, describe, list, reshard, change retention, put records.

After SplitShard, MergeShards and UpdateShardCount, the stream is UPDATING, then all changes at
once. IncreaseStreamRetentionPeriod restores nothing; DecreaseStreamRetentionPeriod drops at once
(both API references). Records go to the open shard that owns their hash key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reshardctl.testing.requests import (
    Answer,
    ApiError,
    Request,
    invalid,
    no_such_shard,
    not_active,
    not_valid,
)
from reshardctl.testing.service import Service, listed_shard, number_of
from reshardctl.testing.shards import SPACE, Merge, Shard, Split, key_hash, uniform_steps
from reshardctl.testing.stream import BIRTH_LEAD, ON_DEMAND, PROVISIONED, Stream

ON_DEMAND_SHARDS = 4
"""Shards of a new on-demand stream (Kinesis Data Streams developer guide)."""
_DESCRIBED = 100
"""Shards a DescribeStream page at most (DescribeStream API reference)."""


def create_stream(service: Service, request: Request) -> Answer:
    """CreateStream. The stream is CREATING for a while; its numbers follow any predecessor's."""
    name = request.params["StreamName"]
    key = (request.region, name)
    if key in service.streams:
        message = f"Stream {name} under account {service.account} already exists."
        raise ApiError("ResourceInUseException", message)
    mode = (request.params.get("StreamModeDetails") or {}).get("StreamMode", PROVISIONED)
    count = ON_DEMAND_SHARDS if mode == ON_DEMAND else request.params.get("ShardCount", 1)
    created = max(int(request.now), service.graves.get(key, 0) + BIRTH_LEAD + 1)
    stream = Stream(name, service.account, request.region, created, mode=mode, status="CREATING")
    stream.status_until = request.now + service.settings.create_seconds
    stream.add_roots(count)
    service.streams[key] = stream
    return {}


def delete_stream(service: Service, request: Request) -> Answer:
    """DeleteStream. The stream is DELETING for a while, then not found.

    One that is still CREATING never gets a shard (kinesalite, test/deleteStream.js).
    """
    stream = service.stream_of(request)
    if stream.status == "CREATING":
        stream.shards.clear()
        stream.order.clear()
    stream.status = "DELETING"
    stream.status_until = request.now + service.settings.delete_seconds
    stream.pending.clear()
    return {}


def describe_stream(service: Service, request: Request) -> Answer:
    """DescribeStream, at most 100 shards a page."""
    stream = service.stream_of(request)
    limit = min(request.params.get("Limit", _DESCRIBED), _DESCRIBED)
    after = number_of(request.params.get("ExclusiveStartShardId", "-"))
    shards: list[Answer] = []
    more = False
    if stream.status != "CREATING":
        for shard, closed in stream.listed(stream.shown, after):
            more = len(shards) == limit
            if more:
                break
            shards.append(listed_shard(shard, closed))
    described = _common(stream) | {"Shards": shards, "HasMoreShards": more}
    return {"StreamDescription": described}


def describe_stream_summary(service: Service, request: Request) -> Answer:
    """DescribeStreamSummary. OpenShardCount counts what ListShards shows."""
    stream = service.stream_of(request)
    count = sum(1 for _, closed in stream.listed(stream.shown) if not closed)
    described = _common(stream) | {"OpenShardCount": count, "ConsumerCount": 0}
    return {"StreamDescriptionSummary": described}


def describe_limits(service: Service, request: Request) -> Answer:
    """DescribeLimits with the limits of a large region."""
    here = [s for (region, _), s in service.streams.items() if region == request.region]
    demand = sum(1 for stream in here if stream.mode == ON_DEMAND)
    return {
        "ShardLimit": 20000,
        "OpenShardCount": sum(len(stream.open_pieces()) for stream in here),
        "OnDemandStreamCount": demand,
        "OnDemandStreamCountLimit": 50,
    }


def list_streams(service: Service, request: Request) -> Answer:
    """ListStreams, in the order of names."""
    after = request.params.get("NextToken") or request.params.get("ExclusiveStartStreamName", "")
    limit = request.params.get("Limit", 100)
    names = sorted(name for region, name in service.streams if region == request.region)
    names = [name for name in names if name > after]
    page = names[:limit]
    streams = [service.streams[request.region, name] for name in page]
    answer: Answer = {
        "StreamNames": page,
        "HasMoreStreams": len(names) > limit,
        "StreamSummaries": [_summary(stream) for stream in streams],
    }
    if len(names) > limit:
        answer["NextToken"] = page[-1]
    return answer


def _summary(stream: Stream) -> dict[str, Any]:
    return {
        "StreamName": stream.name,
        "StreamARN": stream.arn,
        "StreamStatus": stream.status,
        "StreamModeDetails": {"StreamMode": stream.mode},
        "StreamCreationTimestamp": float(stream.created),
    }


def _common(stream: Stream) -> dict[str, Any]:
    return _summary(stream) | {
        "RetentionPeriodHours": stream.retention_hours,
        "EnhancedMonitoring": [{"ShardLevelMetrics": []}],
        "EncryptionType": "NONE",
    }


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
    """A shard that can be resharded; the refusal of a closed one is AWS's (kinesalite#109)."""
    shard = stream.live(number_of(shard_id))
    if shard is None:
        no_such_shard(shard_id, stream.name, stream.account)
    if shard.closed is not None:
        invalid(
            f"Shard {shard.id} in stream {stream.name} under account {stream.account} "
            "has already been merged or split, and thus is not eligible for merging or splitting."
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


_LEAST_HOURS = 24


def increase_retention(service: Service, request: Request) -> Answer:
    """IncreaseStreamRetentionPeriod."""
    stream, hours = _stream_and_hours(service, request)
    if hours < stream.retention_hours:
        invalid(
            f"Requested retention period ({hours} hours) for stream {stream.name} can not be "
            f"shorter than existing retention period ({stream.retention_hours} hours). "
            "Use DecreaseRetentionPeriod API."
        )
    stream.retention_hours = hours
    return {}


def decrease_retention(service: Service, request: Request) -> Answer:
    """DecreaseStreamRetentionPeriod."""
    stream, hours = _stream_and_hours(service, request)
    if hours > stream.retention_hours:
        invalid(
            f"Requested retention period ({hours} hours) for stream {stream.name} can not be "
            f"longer than existing retention period ({stream.retention_hours} hours). "
            "Use IncreaseRetentionPeriod API."
        )
    stream.retention_hours = hours
    return {}


def _stream_and_hours(service: Service, request: Request) -> tuple[Stream, int]:
    stream, hours = service.stream_of(request), request.params["RetentionPeriodHours"]
    if stream.status != "ACTIVE":
        not_active(stream.name, stream.account, stream.status)
    if hours < _LEAST_HOURS:
        invalid(
            f"Minimum allowed retention period is {_LEAST_HOURS} hours. Requested retention "
            f"period ({hours} hours) is too short."
        )
    return stream, hours


def put_record(service: Service, request: Request) -> Answer:
    """PutRecord."""
    return _put(service, service.readable(request), request.params, request.now)


def put_records(service: Service, request: Request) -> Answer:
    """PutRecords. All of them succeed; a partial failure is a matter for a fault."""
    stream = service.readable(request)
    results = [_put(service, stream, entry, request.now) for entry in request.params["Records"]]
    return {"FailedRecordCount": 0, "Records": results}


def _put(service: Service, stream: Stream, entry: Mapping[str, Any], now: float) -> Answer:
    key = entry["PartitionKey"]
    explicit = entry.get("ExplicitHashKey")
    hash_key = key_hash(key) if explicit is None else int(explicit)
    if not 0 <= hash_key < SPACE:
        invalid(
            "Invalid ExplicitHashKey. ExplicitHashKey must be in the range: [0, 2^128-1]. "
            f"Specified value was {explicit}"
        )
    shard = stream.owner(hash_key)
    if shard is None:
        # Only a seeded topology with a hole in it comes here.
        raise ApiError("InternalFailure", f"no open shard owns hash key {hash_key}")
    record = shard.put(entry["Data"], key, now, now + service.settings.arrival_lag)
    return {"ShardId": shard.id, "SequenceNumber": str(record.number)}
