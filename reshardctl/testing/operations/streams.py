"""Streams as a whole: create, delete, describe, list."""

from __future__ import annotations

from typing import Any

from reshardctl.testing.errors import ApiError, not_active
from reshardctl.testing.operations.shapes import listed_shard
from reshardctl.testing.requests import Answer, Request
from reshardctl.testing.service import Service, number_of
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
    """DeleteStream. The stream is DELETING for a while, then not found."""
    stream = service.stream_of(request)
    if stream.status == "CREATING":
        not_active(stream.name, stream.account, stream.status)
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
