"""ListShards, GetShardIterator and GetRecords, with the answers that AWS was seen to give.

ListShards has pages, tokens and filters, as its API reference has them; GetShardIterator refuses
wrong numbers; GetRecords ends at the end of a closed shard, and iterators run out.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, NoReturn

from reshardctl.testing.requests import (
    Answer,
    ApiError,
    Request,
    invalid,
    not_active,
    stream_not_found,
)
from reshardctl.testing.service import (
    Position,
    Service,
    child_shard,
    listed_shard,
    number_of,
    record,
    shard_of,
)
from reshardctl.testing.shards import (
    Record,
    SequenceNumber,
    SequenceNumberError,
    Shard,
    parse,
    shard_id,
)
from reshardctl.testing.stream import Stream, TokenError, seal, seconds, unseal

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
    shards, more = _page_of_shards(stream, request, after, wanted, size)
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


def _page_of_shards(
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


def get_shard_iterator(service: Service, request: Request) -> Answer:
    """GetShardIterator, all five types."""
    stream = service.readable(request)
    shard = shard_of(stream, request.params["ShardId"])
    number = _first_number(service, request, stream, shard)
    return {"ShardIterator": Position.at(stream, shard, number, request.now).sealed()}


def _first_number(service: Service, request: Request, stream: Stream, shard: Shard) -> int:
    """The least number that the iterator may return."""
    kind = request.params["ShardIteratorType"]
    given: str | None = request.params.get("StartingSequenceNumber")
    if kind in ("TRIM_HORIZON", "LATEST"):
        if given is not None:
            _mismatch(kind, "and also a StartingSequenceNumber")
        return shard.starting if kind == "TRIM_HORIZON" else shard.tip + 1
    if kind == "AT_TIMESTAMP":
        return _at_timestamp(request, shard)
    if given is None:
        _mismatch(kind, "and no StartingSequenceNumber")
    return _at_number(service, stream, shard, kind, given)


def _mismatch(kind: str, what: str) -> NoReturn:
    invalid(
        "Must either specify (1) AT_SEQUENCE_NUMBER or AFTER_SEQUENCE_NUMBER and "
        "StartingSequenceNumber or (2) TRIM_HORIZON or LATEST and no StartingSequenceNumber. "
        f"Request specified {kind} {what}."
    )


def _at_timestamp(request: Request, shard: Shard) -> int:
    if request.params.get("Timestamp") is None:
        invalid(
            "Must specify timestampInMillis parameter for iterator of type AT_TIMESTAMP. "
            "Current request has no timestamp parameter."
        )
    then = seconds(request.params["Timestamp"])
    if then > request.now:
        invalid(
            "The timestampInMillis parameter cannot be greater than the currentTimestampInMillis. "
            f"timestampInMillis: {int(then * 1000)}, "
            f"currentTimestampInMillis: {int(request.now * 1000)}"
        )
    # Arrival times are not monotonic: the first record counts, not the earliest time.
    numbers = (record.number for record in shard.records if record.arrival >= then)
    return next(numbers, shard.tip + 1)


def _at_number(service: Service, stream: Stream, shard: Shard, kind: str, text: str) -> int:
    """The place of a number in its shard.

    Small numbers such as 0 are refused as invalid; AWS answers InternalFailure to them (kinesalite,
    test/getShardIterator.js).
    """
    where = (
        f"StartingSequenceNumber {text} used in GetShardIterator on shard {shard.id} "
        f"in stream {stream.name} under account {stream.account} is invalid"
    )
    try:
        number = parse(text)
    except SequenceNumberError:
        invalid(f"{where}.")
    if number.shard != shard.number:
        invalid(
            f"Invalid StartingSequenceNumber. It encodes {shard_id(number.shard)}, "
            f"while it was used in a call to a shard with {shard.id}"
        )
    if not _came_from(shard, number):
        invalid(f"{where} because it did not come from this stream.")
    if number.is_end and (kind == "AFTER_SEQUENCE_NUMBER" or service.settings.refuse_at_end):
        invalid(
            f"Invalid SequenceNumber for ShardIteratorType {kind}, "
            "SequenceNumber has reached max possible value for the shard."
        )
    return int(number) + (kind == "AFTER_SEQUENCE_NUMBER")


def _came_from(shard: Shard, number: SequenceNumber) -> bool:
    """Whether this shard could have given out the number.

    Whether AWS compares the epoch or the listed range is not known; a real number of some shard
    passes both, and one of another incarnation passes neither.
    """
    if shard.ending is not None and int(number) > shard.ending:
        return False
    return number.epoch in shard.epochs and int(number) >= shard.starting


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
