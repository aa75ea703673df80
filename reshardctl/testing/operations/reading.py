"""GetRecords: pages of records, the end of a closed shard, iterators that run out."""

from __future__ import annotations

from datetime import UTC, datetime

from reshardctl.testing.errors import ApiError, stream_not_found
from reshardctl.testing.operations.positions import Position
from reshardctl.testing.operations.shapes import child_shard, record
from reshardctl.testing.requests import Answer, Request
from reshardctl.testing.service import Service, shard_of
from reshardctl.testing.shards import Record, Shard, shard_id
from reshardctl.testing.stream import Stream

_PAGE_BYTES = 10 * 1024 * 1024
"""GetRecords returns up to 10 MB (GetRecords API reference)."""


def get_records(service: Service, request: Request) -> Answer:
    """GetRecords. A closed shard ends with a null iterator and ChildShards."""
    position = Position.opened(request.params["ShardIterator"])
    _check_age(service, position, request.now)
    stream = service.streams.get((position.region, position.name))
    if stream is None or stream.created != position.created:
        stream_not_found(position.name, service.account)
    shard = shard_of(stream, shard_id(position.shard))
    _check_rate(service, stream, shard, request.now)
    first = shard.since(position.number)
    page = _page(shard, first, _limit(request))
    rest = first + len(page)
    behind = _behind(shard, rest, page, request.now)
    answer: Answer = {"Records": [record(read) for read in page], "MillisBehindLatest": behind}
    if _ends(service, shard, rest, page):
        answer["NextShardIterator"] = None
        answer["ChildShards"] = [child_shard(child) for child in stream.children(shard.number)]
        return answer
    number = page[-1].number + 1 if page else position.number
    answer["NextShardIterator"] = Position.at(stream, shard, number, request.now).sealed()
    return answer


def _limit(request: Request) -> int:
    limit: int = request.params.get("Limit", 10000)
    return limit if request.page is None else min(limit, request.page)


def _page(shard: Shard, first: int, limit: int) -> list[Record]:
    page: list[Record] = []
    size = 0
    for next_record in shard.records[first : first + limit]:
        size += len(next_record.payload) + len(next_record.key)
        if page and size > _PAGE_BYTES:
            break
        page.append(next_record)
    return page


def _ends(service: Service, shard: Shard, rest: int, page: list[Record]) -> bool:
    """Whether to show the end: nothing is unread, and (by default) this answer is empty."""
    if shard.closed is None or rest < len(shard.records):
        return False
    return not page or service.settings.end_with_last_records


def _behind(shard: Shard, rest: int, page: list[Record], now: float) -> int:
    """Milliseconds between now and the last record read, 0 when nothing is unread."""
    if rest >= len(shard.records):
        return 0
    reference = page[-1] if page else shard.records[rest]
    return max(0, int((now - reference.arrival) * 1000))


def _check_age(service: Service, position: Position, now: float) -> None:
    life = service.settings.iterator_seconds
    if now - position.issued > life:
        raise ApiError(
            "ExpiredIteratorException",
            f"Iterator expired. The iterator was created at time {_utc(position.issued)} "
            f"while right now it is {_utc(now)} which is further in the future than the "
            f"tolerated delay of {int(life * 1000)} milliseconds.",
        )


def _utc(epoch: float) -> str:
    return datetime.fromtimestamp(epoch, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")


def _check_rate(service: Service, stream: Stream, shard: Shard, now: float) -> None:
    limit = service.settings.reads_per_second
    if limit is None:
        return
    shard.reads = tuple(then for then in shard.reads if now - then < 1)
    if len(shard.reads) >= limit:
        raise ApiError(
            "ProvisionedThroughputExceededException",
            f"Rate exceeded for shard {shard.id} in stream {stream.name} "
            f"under account {stream.account}.",
        )
    shard.reads += (now,)
