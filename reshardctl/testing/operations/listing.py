"""ListShards: pages, tokens and filters, as the ListShards API reference has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reshardctl.testing.errors import ApiError, invalid, not_active, stream_not_found
from reshardctl.testing.operations.shapes import listed_shard
from reshardctl.testing.requests import Answer, Request
from reshardctl.testing.service import Service, number_of
from reshardctl.testing.shards import Shard
from reshardctl.testing.stream import Stream
from reshardctl.testing.timestamps import seconds
from reshardctl.testing.tokens import TokenError, seal, unseal

_ALONE = (
    "StreamName",
    "StreamARN",
    "StreamCreationTimestamp",
    "ExclusiveStartShardId",
    "ShardFilter",
)
"""Recorded refusals: StreamName (botocore#2009), ExclusiveStartShardId
(amazon-kinesis-scaling-utils#82), ShardFilter (beam#33478); the others follow the reference."""

Keeps = Callable[[Shard, bool], bool]


def list_shards(service: Service, request: Request) -> Answer:
    """ListShards. The first page names the stream; later ones only the NextToken."""
    token = request.params.get("NextToken")
    if token is not None:
        for name in _ALONE:
            if request.params.get(name) is not None:
                invalid(f"NextToken and {name} cannot be provided together.")
        stream, after, wanted = _resume(service, request, token)
    else:
        stream, after, wanted = _start(service, request)
    if stream.status not in ("ACTIVE", "UPDATING"):
        not_active(stream.name, stream.account, stream.status)
    size = _page_size(service, request)
    shards, more = _page(stream, request, after, wanted, size)
    answer: Answer = {"Shards": shards}
    if more:
        last = number_of(shards[-1]["ShardId"]) if shards else after
        answer["NextToken"] = _token(stream, last, wanted, request.now)
    return answer


def _start(service: Service, request: Request) -> tuple[Stream, int, dict[str, Any]]:
    if request.params.get("StreamName") is None and request.params.get("StreamARN") is None:
        invalid("Either NextToken or StreamName should be provided.")
    stream = service.stream_of(request)
    created = request.params.get("StreamCreationTimestamp")
    if created is not None and int(seconds(created)) != stream.created:
        stream_not_found(stream.name, stream.account)
    wanted = dict(request.params.get("ShardFilter") or {"Type": "FROM_TRIM_HORIZON"})
    if "Timestamp" in wanted:
        wanted["Timestamp"] = seconds(wanted["Timestamp"])
    start = request.params.get("ExclusiveStartShardId")
    if wanted["Type"] == "AFTER_SHARD_ID":
        start = wanted.get("ShardId")
        if start is None:
            invalid("ShardFilter of type AFTER_SHARD_ID needs a ShardId.")
    return stream, -1 if start is None else number_of(start), wanted


def _resume(service: Service, request: Request, token: str) -> tuple[Stream, int, dict[str, Any]]:
    try:
        fields = unseal("ListShards", token)
    except TokenError:
        invalid("NextToken is invalid.")
    if request.now - fields["at"] > service.settings.token_seconds:
        raise ApiError("ExpiredNextTokenException")
    stream = service.streams.get((fields["region"], fields["name"]))
    if stream is None or stream.created != fields["created"]:
        stream_not_found(fields["name"], service.account)
    return stream, fields["after"], fields["filter"]


def _token(stream: Stream, after: int, wanted: dict[str, Any], now: float) -> str:
    fields = {
        "region": stream.region,
        "name": stream.name,
        "created": stream.created,
        "after": after,
        "filter": wanted,
        "at": now,
    }
    return seal("ListShards", fields)


def _page_size(service: Service, request: Request) -> int:
    limit = service.settings.page_limit
    size: int = min(request.params.get("MaxResults", limit), limit)
    return size if request.page is None else min(size, request.page)


def _page(
    stream: Stream, request: Request, after: int, wanted: dict[str, Any], size: int
) -> tuple[list[Answer], bool]:
    last = stream.shown
    if request.view is not None:
        last = None if request.view == "after" else stream.previous
    keeps = _filter(stream, wanted)
    shards: list[Answer] = []
    for shard, closed in stream.listed(last, after):
        if not keeps(shard, closed):
            continue
        if len(shards) == size:
            return shards, True
        shards.append(listed_shard(shard, closed))
        after = shard.number
    torn = request.view == "torn"
    return shards, torn and any(True for _ in stream.listed(None, after))


def _filter(stream: Stream, wanted: dict[str, Any]) -> Keeps:
    """Which shards a ShardFilter keeps (its table of types in the API reference)."""
    kind = wanted["Type"]
    if kind in ("FROM_TRIM_HORIZON", "AFTER_SHARD_ID"):
        return lambda _shard, _closed: True
    if kind == "AT_LATEST":
        return lambda _shard, closed: not closed
    if kind == "AT_TRIM_HORIZON":
        # Half-open lives, so that the answer covers each hash key exactly once: KCL refuses to
        # start on anything else.
        then = max(stream.horizon, float(stream.created))
        return lambda shard, closed: shard.opened <= then and (not closed or _end(shard) > then)
    if kind not in ("AT_TIMESTAMP", "FROM_TIMESTAMP"):
        invalid(f"ShardFilter type {kind} is unknown.")
    if wanted.get("Timestamp") is None:
        invalid(f"ShardFilter of type {kind} needs a Timestamp.")
    then = max(wanted["Timestamp"], stream.horizon)
    if kind == "AT_TIMESTAMP":
        return lambda shard, closed: shard.opened <= then and (not closed or _end(shard) >= then)
    return lambda shard, closed: not closed or _end(shard) >= then


def _end(shard: Shard) -> float:
    return float("inf") if shard.closed is None else shard.closed
