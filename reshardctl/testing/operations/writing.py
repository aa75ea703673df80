"""PutRecord and PutRecords: records go to the open shard that owns their hash key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reshardctl.testing.errors import ApiError, invalid
from reshardctl.testing.hashspace import SPACE, key_hash
from reshardctl.testing.requests import Answer, Request
from reshardctl.testing.service import Service
from reshardctl.testing.stream import Stream


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
